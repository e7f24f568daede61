#include "method/method.h"

#include <torch/torch.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "method/byol.h"
#include "method/ccl.h"
#include "method/deepcluster.h"
#include "method/fedca.h"
#include "method/fedema.h"
#include "method/public_base.h"
#include "method/rotation.h"
#include "method/simclr.h"
#include "method/simsiam.h"
#include "method/supervised.h"
#include "method/swav.h"

namespace kindred {
namespace {

// How each method of the table in method_kinds.cc is made.
struct Maker {
  const char* name;
  std::unique_ptr<Method> (*make)(const MethodContext& context);
  std::shared_ptr<Foundation> (*foundation)(const MethodContext& context, const std::string& data,
                                            const std::filesystem::path& folder) = nullptr;
};

constexpr Maker kMakers[] = {
    {"ccl", MakeCcl},
    {"moco", MakeMoco},
    {"simclr", MakeSimclr},
    {"rotation", MakeRotation},
    {"byol", MakeByol},
    {"fedema", MakeFedema},
    {"swav", MakeSwav},
    {"deepcluster", MakeDeepCluster},
    {"fedca", MakeFedca, MakePublicBase},
    {"simsiam", MakeSimsiam},
    {"supervised", MakeSupervised},
};

const Maker& MakerOf(const MethodContext& context) {
  const auto maker = std::find_if(std::begin(kMakers), std::end(kMakers), [&](const Maker& each) {
    return each.name == context.method.name;
  });
  if (maker == std::end(kMakers)) {
    throw UsageError("method.name = {}: no such method", Printable(context.method.name));
  }
  return *maker;
}

}  // namespace

Rng StepRng(Purpose purpose, const StepKey& key, uint32_t part) {
  return Rng({.seed = key.seed,
              .purpose = purpose,
              .round = key.round,
              .client = key.client,
              .epoch = key.epoch,
              .sample = key.step,
              .part = part});
}

at::Tensor CheckedRemote(const RoundStart& start, int64_t dim, int64_t most, bool unit_rows) {
  if (start.remote.Size() == 0) return torch::empty({0, dim});
  const at::Tensor& rows = start.remote.rows;
  if (const auto why = CheckFeatures(rows, dim, most > 0 ? most : rows.size(0), unit_rows)) {
    throw NetworkError("round {}: the remote features are refused: {}", start.round + 1, *why);
  }
  return rows;
}

void CheckSquare(const MethodContext& context) {
  if (context.side == 0) {
    throw UsageError("method.name = {}: images must be square; set data.size",
                     Printable(context.method.name));
  }
}

void CheckBatchNorm(const MethodContext& context) {
  if (context.batch < 2) {
    throw UsageError(
        "train.batch = {}: batch norm in the projector of method.name = {} needs at least two",
        context.batch, Printable(context.method.name));
  }
}

at::Tensor Method::FeaturesOf(const at::Tensor&) {
  Check(false, "features of a method that shares none");
  return {};
}

std::vector<std::string> TrainedNames(const Method& method) {
  std::set<const void*> trained;
  for (const auto& tensor : method.Trained()) trained.insert(tensor.data_ptr());
  std::vector<std::string> names;
  for (const auto& [name, tensor] : method.Shared()) {
    if (trained.contains(tensor.data_ptr())) names.push_back(name);
  }
  return names;
}

std::shared_ptr<Foundation> MakeFoundation(const MethodContext& context, const std::string& data,
                                           const std::filesystem::path& folder) {
  const Maker& maker = MakerOf(context);
  return maker.foundation != nullptr ? maker.foundation(context, data, folder) : nullptr;
}

std::unique_ptr<Method> MakeMethod(const MethodContext& context) {
  return MakerOf(context).make(context);
}

}  // namespace kindred
