#include "eval/features.h"

#include <torch/torch.h>

#include <algorithm>
#include <mutex>

#include "augment/normalize.h"
#include "base/error.h"
#include "base/parallel.h"
#include "model/network.h"
#include "model/one_thread.h"
#include "model/resnet.h"

namespace kindred {
namespace {

constexpr int kChunk = 250;  // images encoded at a time: fixed, so that workers do not change a bit

}  // namespace

at::Tensor EncodeImages(const Encoder& encoder, const Images& images,
                        const EncodeOptions& options) {
  const int chunks = (images.count + kChunk - 1) / kChunk;
  const int workers = std::clamp(chunks, 1, options.workers);
  std::vector<ResNet> models;
  for (int w = 0; w < workers; ++w) {
    models.emplace_back(encoder.model, images.channels);
    CopyInto(encoder.tensors, OwnTensorsOf(*models.back()));
    models.back()->eval();
  }
  std::mutex mutex;
  auto features = torch::empty({images.count, models[0]->FeatureSize()});
  ParallelFor(workers, chunks, [&](int worker, int chunk) {
    UseOneThread();
    torch::NoGradGuard no_gradient;
    const int first = chunk * kChunk, count = std::min(kChunk, images.count - first);
    auto x = torch::empty({count, images.channels, images.height, images.width});
    const size_t size = images.ImageSize();
    for (int i = 0; i < count; ++i) {
      const std::span out(x.data_ptr<float>() + static_cast<size_t>(i) * size, size);
      if (options.pixels) {
        options.pixels(first + i, out);
      } else {
        PlainImage(images, first + i, encoder.input.normalization, out);
      }
    }
    features.narrow(0, first, count).copy_(models[static_cast<size_t>(worker)]->forward(x));
    if (options.on_images) {
      const std::lock_guard lock(mutex);
      options.on_images(count);
    }
  });
  if (!torch::isfinite(features).all().item<bool>()) {
    throw DataError("the encoder's features are not finite: it has diverged or is damaged");
  }
  return features;
}

at::Tensor UnitRows(const at::Tensor& h) { return torch::nn::functional::normalize(h); }

}  // namespace kindred
