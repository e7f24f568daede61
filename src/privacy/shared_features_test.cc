#include "privacy/shared_features.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "augment/normalize.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// What can leave a client cannot be made from rows, plain features least of all.
static_assert(!std::is_constructible_v<ProtectedFeatures, at::Tensor>);
static_assert(!std::is_constructible_v<ProtectedFeatures, PlainFeatures>);
static_assert(!std::is_convertible_v<PlainFeatures, ProtectedFeatures>);

struct SharingClient {
  explicit SharingClient(int count) : images{.count = count, .height = 4, .width = 4} {
    for (size_t i = 0; i < static_cast<size_t>(count) * images.ImageSize(); ++i) {
      images.pixels.push_back(static_cast<uint8_t>((i * 101 + i / 48) % 256));
    }
  }
  FeatureRequest Request(int wanted) const {
    return {images, normalization, options, secret, 2, wanted, 8};
  }
  Images images;
  Normalization normalization;
  PrivacyOptions options;
  Secret secret = SeededSecret(3, 1);
};

// The model: an image's values themselves, scaled to length 1. Keeps what it was shown.
struct Seen {
  std::vector<at::Tensor> batches;
  FeatureFunction Function() {
    return [this](const at::Tensor& images) {
      batches.push_back(images.clone());
      return torch::nn::functional::normalize(images.flatten(1));
    };
  }
};

TEST(Protect, TheModelSeesEncodingsAlone) {
  const SharingClient client(20);
  Seen seen;
  const auto features = Protect(client.Request(20), seen.Function());
  EXPECT_EQ(features.rows().sizes(), (std::vector<int64_t>{20, 48}));
  const auto shown = torch::cat(seen.batches);
  ASSERT_EQ(shown.size(0), 20);
  const auto mixes = DrawMixes(20, 20, 4, client.secret, 2);
  for (int64_t row = 0; row < 20; ++row) {
    auto sum = torch::zeros({3, 4, 4});
    for (size_t i = 0; i < 4; ++i) {
      const Mix& mix = mixes[static_cast<size_t>(row)];
      std::vector<float> plain(48);
      PlainImage(client.images, mix.images[i], client.normalization, plain);
      EXPECT_FALSE(torch::allclose(shown[row].flatten(), torch::tensor(plain)));
      sum += mix.weights[i] * torch::tensor(plain).view({3, 4, 4});
    }
    EXPECT_TRUE(torch::allclose(shown[row].abs(), sum.abs(), 1e-4, 1e-5)) << row;
  }
}

TEST(Protect, NoBatchIsShortUnlessItIsTheOnlyOne) {
  const SharingClient client(20);
  for (const auto& [wanted, sizes] : std::vector<std::pair<int, std::vector<int64_t>>>{
           {20, {8, 12}}, {16, {8, 8}}, {9, {9}}, {3, {3}}}) {
    Seen seen;
    Protect(client.Request(wanted), seen.Function());
    std::vector<int64_t> found;
    for (const auto& batch : seen.batches) found.push_back(batch.size(0));
    EXPECT_EQ(found, sizes) << wanted;
  }
}

TEST(Protect, MagnitudesHaveNoSign) {
  SharingClient client(20);
  client.normalization = {{0.5f, 0.5f, 0.5f}, {0.2f, 0.2f, 0.2f}};
  Seen with, without;
  client.options.input = "signed";
  Protect(client.Request(20), with.Function());
  client.options.input = "magnitude";
  Protect(client.Request(20), without.Function());
  EXPECT_LT(torch::cat(with.batches).min().item<double>(), 0);
  EXPECT_TRUE(torch::equal(torch::cat(with.batches).abs(), torch::cat(without.batches)));
}

TEST(Protect, FewerImagesThanAMixTakesAreAUsageError) {
  const SharingClient client(3);
  Seen seen;
  ExpectError(ExitCode::kUsage, "privacy.mix = 4",
              [&] { Protect(client.Request(3), seen.Function()); });
  EXPECT_TRUE(seen.batches.empty());
}

TEST(LeavePlain, ShowsTheFirstImagesOfTheMixes) {
  const SharingClient client(20);
  Seen seen;
  const auto features = LeavePlain(client.Request(10), seen.Function());
  EXPECT_EQ(features.rows().size(0), 10);
  const auto shown = torch::cat(seen.batches).flatten(1);
  const auto mixes = DrawMixes(20, 10, 4, client.secret, 2);
  for (int64_t row = 0; row < 10; ++row) {
    std::vector<float> plain(48);
    PlainImage(client.images, mixes[static_cast<size_t>(row)].images[0], client.normalization,
               plain);
    EXPECT_TRUE(torch::equal(shown[row], torch::tensor(plain)));
  }
}

TEST(WhyNotFeatures, NamesWhatIsWrong) {
  torch::manual_seed(1);
  const auto good = torch::nn::functional::normalize(torch::randn({5, 8}));
  EXPECT_FALSE(WhyNotFeatures(good, 8, 5));
  EXPECT_FALSE(WhyNotFeatures(torch::empty({0, 8}), 8, 5));
  EXPECT_EQ(WhyNotFeatures(good, 9, 5), "8 wide, not 9");
  EXPECT_EQ(WhyNotFeatures(good, 8, 4), "5 rows, at most 4");
  EXPECT_EQ(WhyNotFeatures(at::Tensor(), 8, 5), "not a matrix of floats");
  EXPECT_EQ(WhyNotFeatures(good.to(torch::kDouble), 8, 5), "not a matrix of floats");
  EXPECT_EQ(WhyNotFeatures(good.flatten(), 8, 5), "not a matrix of floats");
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    auto rows = good.clone();
    rows[3][2] = bad;
    EXPECT_EQ(WhyNotFeatures(rows, 8, 5), "not finite");
  }
  auto rows = good.clone();
  rows[1] *= 1.01;
  EXPECT_EQ(WhyNotFeatures(rows, 8, 5), "rows not of length 1");
  rows[1].zero_();
  EXPECT_EQ(WhyNotFeatures(rows, 8, 5), "rows not of length 1");
}

}  // namespace
}  // namespace kindred
