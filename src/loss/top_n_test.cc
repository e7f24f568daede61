#include "loss/top_n.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kindred {
namespace {

TEST(TopN, AreTheFirstOfAStableSort) {
  torch::manual_seed(8);
  TopN<float> top;
  for (const size_t count : {1u, 2u, 15u, 16u, 17u, 100u, 1000u}) {
    for (const int levels : {1, 3, 1000000}) {  // few levels: many ties
      std::vector<float> values;
      for (size_t i = 0; i < count; ++i) {
        values.push_back(static_cast<float>(torch::randint(levels, {1}).item<int64_t>()));
      }
      std::vector<int64_t> order(count);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return values[static_cast<size_t>(a)] > values[static_cast<size_t>(b)];
      });
      for (const size_t wanted : {size_t{0}, size_t{1}, count / 3, count - 1, count}) {
        std::vector<int64_t> places(wanted);
        top.Find(values, places);
        EXPECT_TRUE(std::equal(places.begin(), places.end(), order.begin()))
            << count << " " << levels << " " << wanted;
      }
    }
  }
}

TEST(TopN, NotANumberIsTakenLast) {
  TopN<float> top;
  std::vector<float> values(40, NAN);
  values[7] = -1;
  std::vector<int64_t> places(3);
  top.Find(values, places);
  EXPECT_EQ(places[0], 7);
}

}  // namespace
}  // namespace kindred
