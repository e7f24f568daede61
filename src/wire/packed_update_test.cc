#include "wire/packed_update.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "augment/normalize.h"
#include "privacy/mechanism.h"
#include "wire/wire.h"

namespace kindred {
namespace {

Images EgressImages(int count) {
  Images images = {.count = count, .height = 6, .width = 6};
  for (size_t i = 0; i < static_cast<size_t>(count) * images.ImageSize(); ++i) {
    images.pixels.push_back(static_cast<uint8_t>((i * i + i * 101 + i / 48) % 256));
  }
  return images;
}

// How alike two rows are at most, of any of `rows` to any of `others`.
at::Tensor MostAlike(const at::Tensor& rows, const at::Tensor& others) {
  return std::get<0>(rows.mm(others.t()).max(1));
}

// What an upload says of images: each of its rows is that of an encoding, none that of an image.
TEST(PackedUpdate, EveryRowThatLeavesHasAnEncoding) {
  const Images images = EgressImages(24);
  const Normalization normalization;
  const PrivacyOptions options;
  const Secret secret = SeededSecret(3, 1);
  // The model is the image itself, scaled to length 1: a feature shows of what it was made.
  std::vector<at::Tensor> shown;
  const FeatureFunction model = [&](const at::Tensor& batch) {
    shown.push_back(torch::nn::functional::normalize(batch.flatten(1)));
    return shown.back();
  };
  const FeatureRequest request = {images, normalization, options, secret, 2, 20, 8};
  Update update = {.model = {{"w", torch::ones({2})}}, .report = {.images = 24, .loss = 1}};
  update.report.steps = update.report.seen = 1;
  update.features = ShareFeatures(request, model).travelling;
  const at::Tensor encodings = torch::cat(shown);
  PrivacyOptions as_they_are;
  as_they_are.features = "plain";
  const at::Tensor plain =
      ShareFeatures({images, normalization, as_they_are, secret, 2, 24, 8}, model).kept.rows();

  for (const auto precision : {Precision::kFloat, Precision::kHalf}) {
    const UploadShape shape = {.manifest = ManifestOf(update.model, precision),
                               .precision = precision,
                               .width = encodings.size(1),
                               .most = 20};
    const PackedUpdate packed = PackUpdate(update, shape);
    const auto bytes = std::span(packed.bytes).subspan(BytesOf(shape.manifest));
    const auto rows = static_cast<int64_t>(packed.header.feature_rows());
    ASSERT_EQ(bytes.size(), BytesOfRows(static_cast<uint64_t>(rows),
                                        static_cast<uint64_t>(shape.width), precision));
    ASSERT_EQ(rows, 20);
    const at::Tensor sent = UnpackRows(bytes, rows, shape.width, precision);
    EXPECT_TRUE(torch::allclose(MostAlike(sent, encodings), torch::ones({rows}), 0, 1e-4));
    EXPECT_LT(MostAlike(sent, plain).max().item<float>(), 0.99);
    EXPECT_LT(MostAlike(sent, -plain).max().item<float>(), 0.99);
  }
}

TEST(PackedUpdate, HoldsWhatItSays) {
  Update update = {.model = {{"w", torch::ones({2})}}, .report = {.images = 24, .loss = 1.5}};
  update.report.steps = 3;
  update.report.seen = 5;
  update.report.metrics = {{"a", 1.0}, {"not_measured", std::nan("")}};
  const PackedUpdate packed =
      PackUpdate(update, {.manifest = ManifestOf(update.model, Precision::kFloat)});
  EXPECT_EQ(packed.header.metrics_size(), 1);
  EXPECT_EQ(packed.header.images(), 24);
  EXPECT_EQ(packed.header.bytes(), 8u);
  const v1::UploadBegin begin = SealUpload(packed.header, packed.bytes);
  EXPECT_EQ(begin.digest(), DigestOf(begin.header()));
  v1::UploadHeader other = begin.header();
  other.set_checksum("0");
  EXPECT_NE(DigestOf(other), begin.digest());
  other = begin.header();
  other.set_nonce("another");
  EXPECT_NE(DigestOf(other), begin.digest());
}

}  // namespace
}  // namespace kindred
