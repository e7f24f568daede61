#include "privacy/mechanism.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "augment/normalize.h"
#include "tests/throws.h"

namespace kindred {
namespace {

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

TEST(Encoded, TheModelSeesEncodingsAlone) {
  const SharingClient client(20);
  Seen seen;
  const auto features = ShareFeatures(client.Request(20), seen.Function()).travelling;
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

TEST(Encoded, NoBatchIsShortUnlessItIsTheOnlyOne) {
  const SharingClient client(20);
  for (const auto& [wanted, sizes] : std::vector<std::pair<int, std::vector<int64_t>>>{
           {20, {8, 12}}, {16, {8, 8}}, {9, {9}}, {3, {3}}}) {
    Seen seen;
    ShareFeatures(client.Request(wanted), seen.Function());
    std::vector<int64_t> found;
    for (const auto& batch : seen.batches) found.push_back(batch.size(0));
    EXPECT_EQ(found, sizes) << wanted;
  }
}

TEST(Encoded, MagnitudesHaveNoSign) {
  SharingClient client(20);
  client.normalization = {{0.5f, 0.5f, 0.5f}, {0.2f, 0.2f, 0.2f}};
  Seen with, without;
  client.options.input = "signed";
  ShareFeatures(client.Request(20), with.Function());
  client.options.input = "magnitude";
  ShareFeatures(client.Request(20), without.Function());
  EXPECT_LT(torch::cat(with.batches).min().item<double>(), 0);
  EXPECT_TRUE(torch::equal(torch::cat(with.batches).abs(), torch::cat(without.batches)));
}

TEST(Encoded, FewerImagesThanAMixTakesAreAUsageError) {
  const SharingClient client(3);
  Seen seen;
  ExpectError(ExitCode::kUsage, "needs 4 (privacy.mix)",
              [&] { ShareFeatures(client.Request(3), seen.Function()); });
  EXPECT_TRUE(seen.batches.empty());
}

TEST(Plain, ShowsTheFirstImagesOfTheMixes) {
  SharingClient client(20);
  client.options.features = "plain";
  Seen seen;
  const auto features = ShareFeatures(client.Request(10), seen.Function()).kept;
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

// Whoever lets another mechanism travel says so here.
TEST(MechanismKinds, OnlyEncodingsTravel) {
  std::vector<std::string> travelling;
  for (const auto& kind : MechanismKinds()) {
    if (kind.travels) travelling.emplace_back(kind.name);
  }
  EXPECT_EQ(travelling, std::vector<std::string>{"encoded"});
}

// The contract of the table: as many rows as are asked for, of the client's own images, and in the
// type that may leave a client if and only if its line says so.
TEST(MechanismKinds, KeepTheirContract) {
  SharingClient client(20);
  for (const auto& kind : MechanismKinds()) {
    SCOPED_TRACE(kind.name);
    client.options.features = kind.name;
    Seen seen;
    const MadeFeatures made = ShareFeatures(client.Request(10), seen.Function());
    EXPECT_EQ(made.travelling.rows().defined(), kind.travels);
    EXPECT_EQ(made.kept.rows().defined(), !kind.travels);
    ASSERT_EQ(made.rows().dim(), 2);
    if (kind.unit_rows) {
      EXPECT_FALSE(CheckFeatures(made.rows(), made.rows().size(1), 10));
    }
    const auto rows = kind.made_of(
        client.options, {.images = 20, .count = 10, .secret = client.secret, .round = 2});
    ASSERT_EQ(std::ssize(rows), made.rows().size(0));
    for (const Mix& row : rows) {
      double sum = 0;
      for (const double weight : row.weights) sum += weight;
      EXPECT_NEAR(sum, 1, 1e-12);
      for (const int image : row.images) EXPECT_TRUE(image >= 0 && image < 20) << image;
    }
    EXPECT_FALSE(kind.sentence(client.options).empty());
    const int least = kind.least_images(client.options);
    EXPECT_FALSE(TooFewImages(client.options, least));
    EXPECT_EQ(TooFewImages(client.options, least - 1),
              fmt::format("{} images, privacy.features = {} needs {} (privacy.mix)", least - 1,
                          kind.name, least));
    if (!kind.travels) {
      ExpectError(ExitCode::kUsage, "do not travel", [&] { CheckTravels(client.options); });
    }
  }
}

// What a summary or an exported encoder says of a mechanism's options is read back, whatever they
// are, also when somebody else wrote it.
TEST(PrivacyOptions, AreReadBackFromWhatFilesSay) {
  const PrivacyOptions options = {.features = "plain", .mix = 6, .input = "signed"};
  const auto back = PrivacyOptionsIn(ToJson(options));
  ASSERT_TRUE(back);
  EXPECT_EQ(ToJson(*back), ToJson(options));
  EXPECT_EQ(PrivacyOptionsIn({{"features", "encoded"}, {"mix", 1e9}, {"other", "<b>"}})->mix, 4);
  EXPECT_FALSE(PrivacyOptionsIn({{"features", "of the future"}, {"mix", 4}}));
  EXPECT_FALSE(PrivacyOptionsIn({{"mix", 4}}));
  EXPECT_FALSE(PrivacyOptionsIn(nullptr));
}

}  // namespace
}  // namespace kindred
