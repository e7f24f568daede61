#include "method/public_base.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "augment/normalize.h"
#include "data/dataset.h"
#include "method/fedca.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

MethodContext BaseContext() {
  return {
      .model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 1},
      .method = {.name = "fedca", .tables = {FedcaOptions{.public_images = 24, .base_epochs = 2}}},
      .batch = 8,
      .seed = 3,
      .side = 16,
      .data = "mnist"};
}

PublicBase BaseOf(const MethodContext& context) {
  return MakePublicBase(context, LoadPublic(context));
}

TEST(PublicBase, IsAFunctionOfTheContext) {
  const PublicBase one = BaseOf(BaseContext()), again = BaseOf(BaseContext());
  EXPECT_EQ(one.images.sizes(), (std::vector<int64_t>{24, 3, 16, 16}));
  EXPECT_EQ(one.features.sizes(), (std::vector<int64_t>{24, 16}));
  EXPECT_TRUE(torch::equal(one.features, again.features));
  EXPECT_FALSE(one.features.requires_grad());
  EXPECT_TRUE(torch::allclose(one.features.norm(2, 1), torch::ones(24)));
  MethodContext other = BaseContext();
  other.method.Of<FedcaOptions>().base_epochs = 1;
  EXPECT_FALSE(torch::allclose(BaseOf(other).features, one.features)) << "it learns";
  other = BaseContext();
  other.seed = 4;
  EXPECT_FALSE(torch::allclose(BaseOf(other).features, one.features));
}

TEST(PublicBase, ShapesAreNotThoseThatClientsHold) {
  const PublicBase base = BaseOf(BaseContext());
  const Dataset clients = LoadDataset({.name = "shapes", .size = 16, .limit = 24});
  for (int i = 0; i < 24; ++i) {
    auto plain = torch::empty({3, 16, 16});
    PlainImage(clients.train.images, i, clients.normalization,
               std::span(plain.data_ptr<float>(), static_cast<size_t>(plain.numel())));
    EXPECT_FALSE(torch::equal(base.images[i], plain)) << i;
  }
}

TEST(PublicBase, ARunThatGoesOnTakesWhatItKept) {
  const auto folder = TestFolder();
  MethodContext context = BaseContext();
  context.folder = folder.path();
  const PublicBase trained = BaseOf(context);
  const std::atomic<bool> stop = true;  // whoever trains leaves
  const auto again = [&](const MethodContext& each) {
    return MakePublicBase(each, LoadPublic(each), &stop);
  };
  const PublicBase kept = again(context);
  EXPECT_TRUE(torch::equal(kept.features, trained.features));
  EXPECT_TRUE(torch::equal(kept.images, trained.images));
  MethodContext other = context;
  other.method.Of<FedcaOptions>().public_images = 23;
  EXPECT_THROW(again(other), Interrupted) << "features of other images";
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    Bytes bytes = ReadFile(entry.path(), 1 << 20);
    bytes.back() ^= 1;
    WriteFileAtomically(entry.path(), bytes);
  }
  EXPECT_THROW(again(context), Interrupted) << "damaged features";
  EXPECT_TRUE(torch::equal(BaseOf(context).features, trained.features));
}

TEST(PublicBase, StopsWhenAskedTo) {
  const std::atomic<bool> stop = true;
  EXPECT_THROW(MakePublicBase(BaseContext(), LoadPublic(BaseContext()), &stop), Interrupted);
}

TEST(PublicBase, NoiseHasNoise) {
  MethodContext context = BaseContext();
  context.data.clear();
  context.method.Of<FedcaOptions>().public_path = "/nowhere";
  const PublicBase base = BaseOf(context);
  EXPECT_EQ(base.images.sizes(), (std::vector<int64_t>{8, 3, 16, 16}));
  EXPECT_TRUE(torch::allclose(base.features.norm(2, 1), torch::ones(8)));
}

TEST(PublicBase, MissingImagesAreADataError) {
  MethodContext context = BaseContext();
  context.method.Of<FedcaOptions>().public_data = "cifar100";
  context.method.Of<FedcaOptions>().public_path = "/nowhere";
  ExpectError(ExitCode::kData, "/nowhere", [&] { LoadPublic(context); });
}

}  // namespace
}  // namespace kindred
