#include "data/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kindred {
namespace {

TEST(Shapes, AreTheSameEachTimeAndDifferFromEachOther) {
  const Dataset a = LoadShapes({.name = "shapes", .limit = 60});
  const Dataset b = LoadShapes({.name = "shapes", .limit = 60});
  EXPECT_EQ(a.train.images.pixels, b.train.images.pixels);
  std::set<Bytes> different;
  for (int i = 0; i < 60; ++i)
    different.emplace(a.train.images[i].begin(), a.train.images[i].end());
  different.emplace(a.test.images[0].begin(), a.test.images[0].end());
  EXPECT_EQ(different.size(), 61u);
}

TEST(Shapes, AnImageDoesNotDependOnHowManyThereAre) {
  const Dataset few = LoadShapes({.name = "shapes", .limit = 10});
  const Dataset many = LoadShapes({.name = "shapes", .limit = 30});
  EXPECT_TRUE(std::equal(few.train.images.pixels.begin(), few.train.images.pixels.end(),
                         many.train.images.pixels.begin()));
}

TEST(Shapes, ClassesAreBalanced) {
  const Dataset dataset = LoadShapes({.name = "shapes", .size = 8});
  EXPECT_EQ(dataset.Classes(), 10);
  EXPECT_EQ(dataset.train.images.count, 2000);
  for (int l = 0; l < 10; ++l) {
    EXPECT_EQ(std::count(dataset.train.labels.begin(), dataset.train.labels.end(), l), 200);
  }
}

}  // namespace
}  // namespace kindred
