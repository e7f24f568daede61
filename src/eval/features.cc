#include "eval/features.h"

#include <torch/torch.h>

#include <algorithm>

#include "augment/normalize.h"
#include "base/parallel.h"
#include "model/network.h"
#include "model/one_thread.h"
#include "model/resnet.h"

namespace kindred {
namespace {

constexpr int kChunk = 250;  // images encoded at a time: fixed, so that workers do not change a bit

}  // namespace

at::Tensor EncodeImages(const NamedTensors& encoder, const ModelOptions& options,
                        const Images& images, const Normalization& normalization, int workers) {
  const int chunks = (images.count + kChunk - 1) / kChunk;
  workers = std::clamp(chunks, 1, workers);
  std::vector<ResNet> models;
  for (int w = 0; w < workers; ++w) {
    models.emplace_back(options, images.channels);
    CopyInto(encoder, OwnTensorsOf(*models.back()));
    models.back()->eval();
  }
  auto features = torch::empty({images.count, models[0]->FeatureSize()});
  ParallelFor(workers, chunks, [&](int worker, int chunk) {
    UseOneThread();
    torch::NoGradGuard no_gradient;
    const int first = chunk * kChunk, count = std::min(kChunk, images.count - first);
    auto x = torch::empty({count, images.channels, images.height, images.width});
    const size_t size = images.ImageSize();
    for (int i = 0; i < count; ++i) {
      PlainImage(images, first + i, normalization,
                 std::span(x.data_ptr<float>() + static_cast<size_t>(i) * size, size));
    }
    const auto h = models[static_cast<size_t>(worker)]->forward(x);
    features.narrow(0, first, count).copy_(torch::nn::functional::normalize(h));
  });
  return features;
}

}  // namespace kindred
