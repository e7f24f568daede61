#include "data/dataset.h"

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(LimitIndices, TakesEquallyManyOfEachClass) {
  const std::vector<int> uneven = {0, 0, 0, 0, 1, 1, 2, 1};
  EXPECT_EQ(LimitIndices(uneven, 8, 6), (std::vector<int>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(LimitIndices(std::vector<int>{0, 0, 0, 1}, 4, 2), (std::vector<int>{0, 3}));
}

TEST(LimitIndices, SpreadsOverUnlabeledImages) {
  EXPECT_EQ(LimitIndices({}, 6, 3), (std::vector<int>{0, 2, 4}));
}

TEST(LoadDataset, BringsImagesToTheWantedShape) {
  const Dataset dataset = LoadDataset(
      {.name = "shapes", .size = 20, .channels = 1, .limit = 25, .mean = {0.3}, .std = {0.2}});
  EXPECT_EQ(dataset.train.images.count, 25);
  EXPECT_EQ(dataset.train.images.channels, 1);
  EXPECT_EQ(dataset.test.images.width, 20);
  EXPECT_EQ(dataset.normalization.mean[0], 0.3f);
}

TEST(LoadDataset, RefusesOptionsThatDoNotFit) {
  const auto expect = [](const std::string& part, DataOptions options) {
    ExpectError(ExitCode::kUsage, part, [&] { LoadDataset(options); });
  };
  expect("no such dataset", {.name = "imagenet"});
  expect("must be 1 or 3", {.name = "shapes", .channels = 2});
  expect("1 numbers, but the images have 3", {.name = "shapes", .mean = {0.5}});
}

// Every dataset of the table: a folder without its files is a data error in one line.
TEST(DatasetKinds, EachSaysWhatIsMissing) {
  const auto folder = TestFolder();
  for (const auto& kind : DatasetKinds()) {
    if (std::string(kind.name) == "shapes") continue;  // needs no files
    ExpectError(ExitCode::kData, folder.path().string(),
                [&] { LoadDataset({.name = kind.name, .path = folder.path().string()}); });
  }
}

TEST(DataHash, SeesEveryPixelAndLabel) {
  Dataset dataset = LoadDataset({.name = "shapes", .size = 8, .limit = 20});
  const std::string hash = DataHash(dataset);
  EXPECT_EQ(DataHash(LoadDataset({.name = "shapes", .size = 8, .limit = 20})), hash);
  dataset.test.images.pixels.back() ^= 1;
  EXPECT_NE(DataHash(dataset), hash);
  dataset.test.images.pixels.back() ^= 1;
  dataset.train.labels[3] = 4;
  EXPECT_NE(DataHash(dataset), hash);
}

}  // namespace
}  // namespace kindred
