#include "run/fit.h"

#include <algorithm>

#include "base/error.h"

namespace kindred {

void CheckSplits(const Method& method, const MethodContext& context) {
  if (!method.NormsFeatures() || context.model.bn_splits == 1) return;
  throw UsageError(
      "model.bn_splits = {}: the batch norm of method.name = {} must see a batch whole; set "
      "model.bn_splits = 1, as its file in configs/methods does, which goes after the scale's",
      context.model.bn_splits, Printable(context.method.name));
}

std::optional<std::string> WhyTooFewImages(const Method& method, const Partition& partition) {
  const auto alone =
      std::ranges::count(partition.clients, size_t{1}, [](const auto& own) { return own.size(); });
  if (!method.NormsFeatures() || alone == 0) return std::nullopt;
  return fmt::format(
      "{} of {} clients have one image and learn nothing from it: the method's batch norm needs "
      "two; use fewer clients or more images",
      alone, partition.Clients());
}

}  // namespace kindred
