#include "eval/feature_cache.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/safetensors.h"
#include "tests/folders.h"
#include "tests/lamps.h"

namespace kindred {
namespace {

TEST(CachedFeatures, AreComputedOnce) {
  const auto folder = TestFolder();
  const Encoder encoder = TinyEncoder();
  const Lamps lamps(20, 1);
  const auto h = CachedFeatures(folder.path(), encoder, lamps.images);
  ASSERT_EQ(FilesBelow(folder.path()).size(), 1u);
  // Another result in its place is what comes back: so it was read, not computed.
  const auto file = folder.path() / *FilesBelow(folder.path()).begin();
  const NamedTensors zeros = {{"h", torch::zeros_like(h)}};
  WriteFileAtomically(file, SerializeSafetensors({zeros, {{"digest", DigestOf(zeros)}}}));
  EXPECT_TRUE(torch::equal(CachedFeatures(folder.path(), encoder, lamps.images), zeros.at("h")));
  Bytes bytes = ReadFile(file, 1 << 20);
  bytes.back() ^= 1;
  WriteFileAtomically(file, bytes);
  EXPECT_TRUE(torch::equal(CachedFeatures(folder.path(), encoder, lamps.images), h))
      << "a damaged file is computed again";
}

TEST(CachedFeatures, OtherEncodersAndImagesAreOtherFiles) {
  const auto folder = TestFolder();
  CachedFeatures(folder.path(), TinyEncoder(3), Lamps(20, 1).images);
  CachedFeatures(folder.path(), TinyEncoder(4), Lamps(20, 1).images);
  CachedFeatures(folder.path(), TinyEncoder(3), Lamps(20, 2).images);
  Encoder other = TinyEncoder(3);
  other.input.normalization.mean[0] += 0.1f;
  CachedFeatures(folder.path(), other, Lamps(20, 1).images);
  EXPECT_EQ(FilesBelow(folder.path()).size(), 4u);
  CachedFeatures(folder.path(), TinyEncoder(5), Lamps(20, 1).images, {}, 5000);
  EXPECT_LT(FilesBelow(folder.path()).size(), 4u) << "the oldest go";
}

}  // namespace
}  // namespace kindred
