#include "privacy/mechanism.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "privacy/encoded.h"
#include "privacy/plain.h"

namespace kindred {
namespace {

// How the rows of each mechanism of the table in mechanism_kinds.cc are made.
struct Maker {
  const char* name;
  at::Tensor (*make)(const FeatureRequest& request, const FeatureFunction& features);
};

constexpr Maker kMakers[] = {
    {"encoded", EncodedFeatures},
    {"plain", PlainImageFeatures},
};

}  // namespace

MadeFeatures ShareFeatures(const FeatureRequest& request, const FeatureFunction& features) {
  const MechanismKind& kind = MechanismOf(request.options);
  if (const auto why = TooFewImages(request.options, request.images.count)) {
    throw UsageError("a client has {}", *why);
  }
  const auto maker = std::ranges::find_if(
      kMakers, [&](const Maker& each) { return each.name == request.options.features; });
  Check(maker != std::end(kMakers), "a mechanism of the table has a maker");
  MadeFeatures made;
  at::Tensor rows = maker->make(request, features);
  (kind.travels ? made.travelling.rows_ : made.kept.rows_) = std::move(rows);
  return made;
}

at::Tensor FeaturesInBatches(const FeatureRequest& request, int64_t count,
                             const std::function<void(int64_t first, at::Tensor& out)>& fill,
                             const FeatureFunction& features) {
  torch::NoGradGuard no_gradient;
  const int64_t batches = std::max<int64_t>(1, count / request.batch);
  std::vector<at::Tensor> parts;
  for (int64_t b = 0, first = 0; b < batches; ++b) {
    const int64_t size = b + 1 < batches ? request.batch : count - first;
    auto images =
        torch::empty({size, request.images.channels, request.images.height, request.images.width});
    fill(first, images);
    parts.push_back(features(images));
    first += size;
  }
  return torch::cat(parts).contiguous();
}

}  // namespace kindred
