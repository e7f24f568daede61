#include "method/public_base.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "augment/normalize.h"
#include "data/dataset.h"
#include "tests/throws.h"

namespace kindred {
namespace {

MethodContext BaseContext() {
  return {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 1},
          .method = {.name = "fedca", .fedca = {.public_images = 24, .base_epochs = 2}},
          .batch = 8,
          .seed = 3,
          .side = 16,
          .data = "mnist"};
}

TEST(PublicBase, IsAFunctionOfTheContext) {
  const PublicBase one = MakePublicBase(BaseContext()), again = MakePublicBase(BaseContext());
  EXPECT_EQ(one.images.sizes(), (std::vector<int64_t>{24, 3, 16, 16}));
  EXPECT_EQ(one.features.sizes(), (std::vector<int64_t>{24, 16}));
  EXPECT_TRUE(torch::equal(one.features, again.features));
  EXPECT_FALSE(one.features.requires_grad());
  EXPECT_TRUE(torch::allclose(one.features.norm(2, 1), torch::ones(24)));
  MethodContext other = BaseContext();
  other.method.fedca.base_epochs = 1;
  EXPECT_FALSE(torch::allclose(MakePublicBase(other).features, one.features)) << "it learns";
  other = BaseContext();
  other.seed = 4;
  EXPECT_FALSE(torch::allclose(MakePublicBase(other).features, one.features));
}

TEST(PublicBase, ShapesAreNotThoseThatClientsHold) {
  const PublicBase base = MakePublicBase(BaseContext());
  const Dataset clients = LoadDataset({.name = "shapes", .size = 16, .limit = 24});
  for (int i = 0; i < 24; ++i) {
    auto plain = torch::empty({3, 16, 16});
    PlainImage(clients.train.images, i, clients.normalization,
               std::span(plain.data_ptr<float>(), static_cast<size_t>(plain.numel())));
    EXPECT_FALSE(torch::equal(base.images[i], plain)) << i;
  }
}

TEST(PublicBase, NoiseHasNoise) {
  MethodContext context = BaseContext();
  context.data.clear();
  context.method.fedca.public_path = "/nowhere";
  const PublicBase base = MakePublicBase(context);
  EXPECT_EQ(base.images.sizes(), (std::vector<int64_t>{8, 3, 16, 16}));
  EXPECT_TRUE(torch::allclose(base.features.norm(2, 1), torch::ones(8)));
}

TEST(PublicBase, MissingImagesAreADataError) {
  MethodContext context = BaseContext();
  context.method.fedca.public_data = "cifar100";
  context.method.fedca.public_path = "/nowhere";
  ExpectError(ExitCode::kData, "/nowhere", [&] { MakePublicBase(context); });
}

}  // namespace
}  // namespace kindred
