#include "eval/labeled_subset.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/throws.h"

namespace kindred {
namespace {

Rng SubsetRng(uint64_t seed) { return Rng({.seed = seed, .purpose = Purpose::kLabeled}); }

TEST(LabeledSubset, TakesTheShareOfEachClass) {
  std::vector<int> labels(300, 0);
  for (size_t i = 0; i < 100; ++i) labels[3 * i] = 1;  // 200 of class 0, 100 of class 1
  Rng rng = SubsetRng(1);
  const auto chosen = LabeledSubset(labels, 2, 0.1, rng);
  ASSERT_EQ(chosen.size(), 30u);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end()) << "none twice";
  const auto of = LabelsOf(labels, chosen);
  EXPECT_EQ(std::count(of.begin(), of.end(), 1), 10);
  Rng again = SubsetRng(1), other = SubsetRng(2);
  EXPECT_EQ(LabeledSubset(labels, 2, 0.1, again), chosen);
  EXPECT_NE(LabeledSubset(labels, 2, 0.1, other), chosen);
}

TEST(LabeledSubset, RefusesAShareThatLeavesAClassEmpty) {
  std::vector<int> labels(104, 0);
  for (size_t i = 0; i < 4; ++i) labels[i] = 2;
  Rng rng = SubsetRng(1);
  ExpectError(ExitCode::kUsage, "leaves class 2 without a label: it has 4 images",
              [&] { LabeledSubset(labels, 3, 0.1, rng); });
  EXPECT_EQ(StratifiedSample(labels, 3, 0.1, rng).size(), 10u) << "allowed here";
  EXPECT_EQ(LabeledSubset(labels, 3, 1, rng).size(), 104u) << "a class without images is none";
}

}  // namespace
}  // namespace kindred
