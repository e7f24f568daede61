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
      .side = 16};
}

PublicBase BaseOf(const MethodContext& context, const std::string& data = "mnist",
                  const std::filesystem::path& folder = {},
                  const std::atomic<bool>* stop = nullptr) {
  PublicBase base(context, data, folder);
  base.Make(stop);
  return base;
}

TEST(PublicBase, IsAFunctionOfTheContext) {
  const PublicBase one = BaseOf(BaseContext()), again = BaseOf(BaseContext());
  EXPECT_EQ(one.PublicImages().sizes(), (std::vector<int64_t>{24, 3, 16, 16}));
  EXPECT_EQ(one.Features().sizes(), (std::vector<int64_t>{24, 16}));
  EXPECT_TRUE(torch::equal(one.Features(), again.Features()));
  EXPECT_FALSE(one.Features().requires_grad());
  EXPECT_TRUE(torch::allclose(one.Features().norm(2, 1), torch::ones(24)));
  MethodContext other = BaseContext();
  other.method.Of<FedcaOptions>().base_epochs = 1;
  EXPECT_FALSE(torch::allclose(BaseOf(other).Features(), one.Features())) << "it learns";
  other = BaseContext();
  other.seed = 4;
  EXPECT_FALSE(torch::allclose(BaseOf(other).Features(), one.Features()));
}

TEST(PublicBase, ShapesAreNotThoseThatClientsHold) {
  const PublicBase base = BaseOf(BaseContext());
  const Dataset clients = LoadDataset({.name = "shapes", .size = 16, .limit = 24});
  for (int i = 0; i < 24; ++i) {
    auto plain = torch::empty({3, 16, 16});
    PlainImage(clients.train.images, i, clients.normalization,
               std::span(plain.data_ptr<float>(), static_cast<size_t>(plain.numel())));
    EXPECT_FALSE(torch::equal(base.PublicImages()[i], plain)) << i;
  }
}

TEST(PublicBase, ARunThatGoesOnTakesWhatItKept) {
  const auto folder = TestFolder();
  const MethodContext context = BaseContext();
  const PublicBase trained = BaseOf(context, "mnist", folder.path());
  const std::atomic<bool> stop = true;  // whoever trains leaves
  const auto again = [&](const MethodContext& each) {
    return BaseOf(each, "mnist", folder.path(), &stop);
  };
  const PublicBase kept = again(context);
  EXPECT_TRUE(torch::equal(kept.Features(), trained.Features()));
  EXPECT_TRUE(torch::equal(kept.PublicImages(), trained.PublicImages()));
  MethodContext other = context;
  other.method.Of<FedcaOptions>().public_images = 23;
  EXPECT_THROW(again(other), Interrupted) << "features of other images";
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    Bytes bytes = ReadFile(entry.path(), 1 << 20);
    bytes.back() ^= 1;
    WriteFileAtomically(entry.path(), bytes);
  }
  EXPECT_THROW(again(context), Interrupted) << "damaged features";
  EXPECT_TRUE(torch::equal(BaseOf(context, "mnist", folder.path()).Features(), trained.Features()));
}

TEST(PublicBase, IsMadeOnce) {
  PublicBase base = BaseOf(BaseContext());
  const at::Tensor features = base.Features();
  const std::atomic<bool> stop = true;  // whoever trains leaves
  base.Make(&stop);
  EXPECT_EQ(base.Features().data_ptr(), features.data_ptr());
}

TEST(PublicBase, StopsWhenAskedTo) {
  const std::atomic<bool> stop = true;
  EXPECT_THROW(BaseOf(BaseContext(), "mnist", {}, &stop), Interrupted);
}

TEST(PublicBase, NoiseHasNoise) {
  MethodContext context = BaseContext();
  context.method.Of<FedcaOptions>().public_path = "/nowhere";
  const PublicBase base = BaseOf(context, "");
  EXPECT_EQ(base.PublicImages().sizes(), (std::vector<int64_t>{8, 3, 16, 16}));
  EXPECT_TRUE(torch::allclose(base.Features().norm(2, 1), torch::ones(8)));
}

TEST(PublicBase, MissingImagesAreADataError) {
  MethodContext context = BaseContext();
  context.method.Of<FedcaOptions>().public_data = "cifar100";
  context.method.Of<FedcaOptions>().public_path = "/nowhere";
  ExpectError(ExitCode::kData, "/nowhere", [&] { BaseOf(context); });
}

}  // namespace
}  // namespace kindred
