#include "privacy/plain.h"

#include <torch/torch.h>

#include "augment/normalize.h"
#include "model/floats.h"

namespace kindred {

at::Tensor PlainImageFeatures(const FeatureRequest& request, const FeatureFunction& features) {
  const auto rows = MechanismOf(request.options)
                        .made_of(request.options, {.images = request.images.count,
                                                   .count = request.count,
                                                   .secret = request.secret,
                                                   .round = request.round});
  const size_t size = request.images.ImageSize();
  const auto copy = [&](int64_t first, at::Tensor& out) {
    for (int64_t i = 0; i < out.size(0); ++i) {
      PlainImage(request.images, rows[static_cast<size_t>(first + i)].images[0],
                 request.normalization, Floats(out).subspan(static_cast<size_t>(i) * size, size));
    }
  };
  return FeaturesInBatches(request, static_cast<int64_t>(rows.size()), copy, features);
}

}  // namespace kindred
