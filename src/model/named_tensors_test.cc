#include "model/named_tensors.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

namespace kindred {
namespace {

TEST(NamedTensors, CloneSharesNothing) {
  const NamedTensors original = {{"a", torch::ones({2})},
                                 {"n", torch::zeros({}, torch::kInt64)},
                                 {"p", torch::ones({1}, torch::requires_grad())}};
  const NamedTensors copy = Clone(original);
  ASSERT_EQ(copy.size(), 3u);
  for (const auto& [name, tensor] : copy) {
    EXPECT_TRUE(torch::equal(tensor, original.at(name))) << name;
    EXPECT_EQ(tensor.scalar_type(), original.at(name).scalar_type()) << name;
    EXPECT_NE(tensor.data_ptr(), original.at(name).data_ptr()) << name;
    EXPECT_FALSE(tensor.requires_grad()) << name;
  }
  copy.at("a").fill_(7);
  EXPECT_EQ(original.at("a")[0].item<float>(), 1);
}

TEST(NamedTensors, UnderFindsWhatAddUnderPut) {
  NamedTensors tensors = {{"encoder", torch::ones({1})}, {"encoder.x/a", torch::ones({1})}};
  AddUnder(tensors, "encoder", {{"a", torch::ones({2})}, {"b/c", torch::ones({3})}});
  AddUnder(tensors, "encoder0", {{"a", torch::ones({4})}});
  EXPECT_EQ(tensors.size(), 5u);
  EXPECT_EQ(tensors.at("encoder/b/c").size(0), 3);
  // Neither "encoder" itself, nor names that only begin alike ("encoder.x/a" sorts before,
  // "encoder0/a" after "encoder/...").
  const auto found = Under(tensors, "encoder");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("a").size(0), 2);
  EXPECT_EQ(found.at("b/c").data_ptr(), tensors.at("encoder/b/c").data_ptr());
  EXPECT_EQ(Under(tensors, "encoder/b").at("c").size(0), 3);
  EXPECT_TRUE(Under(tensors, "encode").empty());
  EXPECT_TRUE(Under({}, "encoder").empty());
}

TEST(NamedTensors, BytesAreFourAFloatAndEightAnInteger) {
  // 2 x 3 floats: 24. A scalar integer: 8. An empty tensor: 0.
  EXPECT_EQ(BytesOf({{"a", torch::zeros({2, 3})},
                     {"b", torch::zeros({}, torch::kInt64)},
                     {"c", torch::zeros({0})}}),
            32u);
  EXPECT_EQ(BytesOf(NamedTensors{}), 0u);
}

TEST(NamedTensors, DigestSeesNameKindShapeAndBytes) {
  const auto digest = [](const std::string& name, const at::Tensor& tensor) {
    return DigestOf({{name, tensor}});
  };
  const std::string base = digest("a", torch::zeros({2, 3}));
  EXPECT_EQ(base.size(), 64u);
  EXPECT_EQ(digest("a", torch::zeros({2, 3})), base) << "equal tensors elsewhere in memory";
  EXPECT_NE(digest("b", torch::zeros({2, 3})), base);
  EXPECT_NE(digest("a", torch::zeros({3, 2})), base);
  EXPECT_NE(digest("a", torch::zeros({6})), base);
  EXPECT_NE(digest("a", torch::zeros({1, 2, 3})), base);
  // -0 == 0 but has another bit; the last element counts too.
  auto minus_zero = torch::zeros({2, 3});
  minus_zero[1][2] = -0.0f;
  EXPECT_TRUE(torch::equal(minus_zero, torch::zeros({2, 3})));
  EXPECT_NE(digest("a", minus_zero), base);
  // The same shape and bytes, 8 of them: floats [2] and integers [1] differ in shape, so two
  // empty tensors show the kind alone.
  EXPECT_NE(digest("a", torch::zeros({0})), digest("a", torch::zeros({0}, torch::kInt64)));
  EXPECT_NE(DigestOf({}), base);
}

// Without the number of axes, a scalar's bytes could be read as the shape of an empty tensor: an
// int64 of value 0 and shape [] feeds the same 8 bytes as shape [0] and no values.
TEST(NamedTensors, DigestKnowsAShapeFromTheBytesAfterIt) {
  EXPECT_NE(DigestOf({{"a", torch::zeros({}, torch::kInt64)}}),
            DigestOf({{"a", torch::zeros({0}, torch::kInt64)}}));
}

TEST(NamedTensors, DigestDoesNotMixNeighbours) {
  const auto zero = torch::zeros({1});
  EXPECT_NE(DigestOf({{"ab", zero}, {"c", zero}}), DigestOf({{"a", zero}, {"bc", zero}}));
  EXPECT_NE(DigestOf({{"a", torch::zeros({1})}, {"b", torch::ones({1})}}),
            DigestOf({{"a", torch::ones({1})}, {"b", torch::zeros({1})}}));
}

TEST(NamedTensors, AllFiniteFindsOneBadFloat) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(AllFinite({}));
  EXPECT_TRUE(AllFinite({{"a", torch::zeros({0})}, {"n", torch::ones({2}, torch::kInt64)}}));
  for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    auto tensor = torch::zeros({1000});
    tensor[777] = bad;
    EXPECT_FALSE(AllFinite({{"a", torch::ones({3})}, {"b", tensor}})) << bad;
  }
  // Infinities that cancel are a NaN, not nothing.
  auto both = torch::zeros({2});
  both[0] = kInfinity;
  both[1] = -kInfinity;
  EXPECT_FALSE(AllFinite({{"a", both}}));
  // Finite floats whose sum leaves float: 1000 x 3.4e38.
  EXPECT_TRUE(AllFinite({{"a", torch::full({1000}, std::numeric_limits<float>::max())}}));
}

}  // namespace
}  // namespace kindred
