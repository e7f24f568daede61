#include "client/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kindred {
namespace {

std::vector<std::vector<int>> BatchesOf(int count, int batch, uint64_t seed = 1) {
  Rng rng({.seed = seed, .purpose = Purpose::kOrder});
  return EpochBatches(count, batch, rng);
}

TEST(EpochBatches, CutsWholeBatchesOfDifferentImages) {
  for (const int batch : {1, 2, 3, 8}) {
    for (int count = batch; count < 30; ++count) {
      const auto batches = BatchesOf(count, batch);
      ASSERT_EQ(static_cast<int>(batches.size()), count / batch);
      std::set<int> seen;
      for (const auto& each : batches) {
        ASSERT_EQ(static_cast<int>(each.size()), batch) << count;
        for (const int image : each) {
          EXPECT_TRUE(image >= 0 && image < count);
          EXPECT_TRUE(seen.insert(image).second) << image << " is there twice";
        }
      }
    }
  }
}

TEST(EpochBatches, AShortBatchStaysWhenItIsTheOnlyOne) {
  for (int count = 1; count < 8; ++count) {
    const auto batches = BatchesOf(count, 8);
    ASSERT_EQ(batches.size(), 1u);
    auto images = batches[0];
    std::sort(images.begin(), images.end());
    ASSERT_EQ(static_cast<int>(images.size()), count);
    for (int i = 0; i < count; ++i) EXPECT_EQ(images[static_cast<size_t>(i)], i);
  }
}

TEST(EpochBatches, OrderIsThatOfTheStream) {
  EXPECT_EQ(BatchesOf(50, 8, 1), BatchesOf(50, 8, 1));
  EXPECT_NE(BatchesOf(50, 8, 1), BatchesOf(50, 8, 2));
  Rng rng({.seed = 1, .purpose = Purpose::kOrder});
  EXPECT_NE(EpochBatches(50, 8, rng), EpochBatches(50, 8, rng));
}

// Which images an epoch leaves out is drawn: over 600 epochs of 10 images in batches of 4 each is
// left out in 2 of 10, 120 times, with a deviation of sqrt(600 x 0.2 x 0.8) = 9.8.
TEST(EpochBatches, EveryImageIsLeftOutEquallyOften) {
  std::vector<int> missed(10, 600);
  Rng rng({.seed = 3, .purpose = Purpose::kOrder});
  for (int epoch = 0; epoch < 600; ++epoch) {
    for (const auto& batch : EpochBatches(10, 4, rng)) {
      for (const int image : batch) --missed[static_cast<size_t>(image)];
    }
  }
  for (const int count : missed) EXPECT_NEAR(count, 120, 5 * 9.8);
}

TEST(WholeEpochBatches, AreTheEpochsBatchesAndWhatTheyDropped) {
  for (const auto& [count, batch] :
       std::vector<std::pair<int, int>>{{1, 4}, {4, 4}, {7, 4}, {8, 4}, {11, 4}, {5, 1}}) {
    const RngKey key = {.seed = 3, .purpose = Purpose::kOrder};
    Rng one(key), other(key);
    const auto epoch = EpochBatches(count, batch, one);
    const auto whole = WholeEpochBatches(count, batch, other);
    ASSERT_EQ(whole.size(), epoch.size()) << count << " " << batch;
    std::multiset<int> seen;
    for (size_t i = 0; i < whole.size(); ++i) {
      seen.insert(whole[i].begin(), whole[i].end());
      EXPECT_TRUE(std::equal(epoch[i].begin(), epoch[i].end(), whole[i].begin())) << i;
      if (i + 1 < whole.size()) {
        EXPECT_EQ(whole[i].size(), epoch[i].size());
      }
    }
    EXPECT_EQ(seen.size(), static_cast<size_t>(count));
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), static_cast<size_t>(count));
  }
}

}  // namespace
}  // namespace kindred
