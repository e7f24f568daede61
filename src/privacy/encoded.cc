#include "privacy/encoded.h"

#include <torch/torch.h>

#include "model/floats.h"

namespace kindred {

at::Tensor EncodedFeatures(const FeatureRequest& request, const FeatureFunction& features) {
  const auto mixes = DrawMixes(request.images.count, request.count, request.options.mix,
                               request.secret, request.round);
  SecretStream signs(request.secret, {request.round, SecretUse::Part::kSigns});
  const bool magnitude = request.options.input == "magnitude";
  const auto encode = [&](int64_t first, at::Tensor& out) {
    EncodeMixes(
        request.images, request.normalization,
        std::span(mixes).subspan(static_cast<size_t>(first), static_cast<size_t>(out.size(0))),
        signs, Floats(out));
    if (magnitude) out.abs_();
  };
  return FeaturesInBatches(request, static_cast<int64_t>(mixes.size()), encode, features);
}

}  // namespace kindred
