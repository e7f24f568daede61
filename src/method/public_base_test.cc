#include "method/public_base.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/file.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

MethodContext BaseContext() {
  return {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 1},
          .method = {.name = "fedca", .fedca = {.public_images = 24, .base_epochs = 2}},
          .batch = 8,
          .seed = 3};
}

TEST(PublicBase, IsAFunctionOfTheContext) {
  const PublicBase one = MakePublicBase(BaseContext(), 16),
                   again = MakePublicBase(BaseContext(), 16);
  EXPECT_EQ(one.images.sizes(), (std::vector<int64_t>{24, 3, 16, 16}));
  EXPECT_EQ(one.features.sizes(), (std::vector<int64_t>{24, 16}));
  EXPECT_TRUE(torch::equal(one.features, again.features));
  EXPECT_FALSE(one.features.requires_grad());
  EXPECT_TRUE(torch::allclose(one.features.norm(2, 1), torch::ones(24)));
  MethodContext other = BaseContext();
  other.method.fedca.base_epochs = 1;
  EXPECT_FALSE(torch::allclose(MakePublicBase(other, 16).features, one.features)) << "it learns";
  other = BaseContext();
  other.seed = 4;
  EXPECT_FALSE(torch::allclose(MakePublicBase(other, 16).features, one.features));
}

TEST(PublicBase, IsFoundAgainWithTheSameBits) {
  const auto folder = TestFolder();
  MethodContext context = BaseContext();
  context.cache = folder.path();
  const PublicBase trained = MakePublicBase(context, 16);
  EXPECT_TRUE(torch::equal(trained.features, MakePublicBase(BaseContext(), 16).features));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(torch::equal(MakePublicBase(context, 16).features, trained.features));
  // A file that was changed is not believed.
  Bytes bytes = ReadFile(files[0], 1 << 24);
  bytes[bytes.size() - 5] ^= 1;
  WriteFileAtomically(files[0], bytes);
  EXPECT_TRUE(torch::equal(MakePublicBase(context, 16).features, trained.features));
  // Another model has another name.
  context.seed = 9;
  MakePublicBase(context, 16);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(files[0].parent_path()), {}), 2);
}

TEST(PublicBase, MissingImagesAreADataError) {
  MethodContext context = BaseContext();
  context.method.fedca.public_data = "cifar100";
  context.method.fedca.public_path = "/nowhere";
  ExpectError(ExitCode::kData, "/nowhere", [&] { MakePublicBase(context, 32); });
}

}  // namespace
}  // namespace kindred
