#include "eval/features.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "augment/normalize.h"
#include "tests/lamps.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(EncodeImages, IsTheModelsOutputWhateverTheWorkers) {
  const Encoder encoder = TinyEncoder();
  const Lamps lamps(600, 1);
  const auto h = EncodeImages(encoder, lamps.images);
  EXPECT_TRUE(torch::equal(h, EncodeImages(encoder, lamps.images, {.workers = 3})));
  ResNet model(encoder.model, 3);
  CopyInto(encoder.tensors, OwnTensorsOf(*model));
  model->eval();
  torch::NoGradGuard no_gradient;
  auto x = torch::empty({1, 3, 8, 8});
  PlainImage(lamps.images, 417, encoder.input.normalization, {x.data_ptr<float>(), 192});
  EXPECT_TRUE(torch::allclose(h[417], model(x)[0], 1e-4, 1e-5));
  EXPECT_NEAR(UnitRows(h)[5].norm().item<double>(), 1, 1e-6);
}

TEST(EncodeImages, RefusesFeaturesThatAreNotFinite) {
  Encoder encoder = TinyEncoder();
  encoder.tensors.at("bn1.weight").fill_(1e38f);
  ExpectError(ExitCode::kData, "not finite", [&] { EncodeImages(encoder, Lamps(4, 1).images); });
}

}  // namespace
}  // namespace kindred
