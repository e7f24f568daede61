#include "model/split_batch_norm.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/network.h"

namespace kindred {
namespace {

// Tensors of a norm, by name, sharing its memory.
NamedTensors NormTensors(const torch::nn::Module& norm) { return OwnTensorsOf(norm); }

// Something to normalise: means and scales differ between samples and channels.
torch::Tensor NormInput(int64_t batch, int64_t channels) {
  torch::manual_seed(1);
  const auto x = torch::randn({batch, channels, 3, 2});
  return x * torch::arange(1, channels + 1).view({1, channels, 1, 1}) +
         torch::arange(batch).view({batch, 1, 1, 1});
}

void SetWeights(const torch::nn::Module& norm) {
  const auto tensors = NormTensors(norm);
  const int64_t channels = tensors.at("weight").size(0);
  tensors.at("weight").copy_(torch::linspace(0.5, 2, channels));
  tensors.at("bias").copy_(torch::linspace(-1, 1, channels));
}

void ExpectNear(const torch::Tensor& a, const torch::Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a - b).abs().max().item<double>(), 1e-5);
}

TEST(SplitBatchNorm, NamesAreTorchvisions) {
  const SplitBatchNorm split(4, 2);
  const torch::nn::BatchNorm2d plain(4);
  const auto ours = NormTensors(*split), theirs = NormTensors(*plain);
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [name, tensor] : theirs) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_EQ(ours.at(name).sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(torch::equal(ours.at(name), tensor)) << name;
  }
}

TEST(SplitBatchNorm, OneGroupIsBatchNorm) {
  SplitBatchNorm split(3, 1);
  torch::nn::BatchNorm2d plain(3);
  SetWeights(*split);
  SetWeights(*plain);
  for (int step = 1; step <= 3; ++step) {
    const auto x = NormInput(5 + step, 3);
    ExpectNear(split(x), plain(x));
    const auto ours = NormTensors(*split), theirs = NormTensors(*plain);
    ExpectNear(ours.at("running_mean"), theirs.at("running_mean"));
    ExpectNear(ours.at("running_var"), theirs.at("running_var"));
    EXPECT_EQ(ours.at("num_batches_tracked").item<int64_t>(), step);
  }
  split->eval();
  plain->eval();
  const auto x = NormInput(2, 3);
  ExpectNear(split(x), plain(x));
  EXPECT_EQ(NormTensors(*split).at("num_batches_tracked").item<int64_t>(), 3);
}

TEST(SplitBatchNorm, GroupsAreNormalisedEachByItself) {
  for (const int64_t splits : {2, 3, 4}) {
    SCOPED_TRACE(splits);
    constexpr int64_t kBatch = 12, kChannels = 3;
    SplitBatchNorm split(kChannels, splits);
    SetWeights(*split);
    const auto x = NormInput(kBatch, kChannels);
    const auto y = split(x);
    auto mean = torch::zeros({kChannels}), variance = torch::zeros({kChannels});
    for (int64_t group = 0; group < splits; ++group) {
      // Sample b in group b mod splits.
      torch::nn::BatchNorm2d plain(kChannels);
      SetWeights(*plain);
      const auto members = torch::arange(group, kBatch, splits);
      ExpectNear(y.index_select(0, members), plain(x.index_select(0, members)));
      mean += NormTensors(*plain).at("running_mean") / splits;
      variance += NormTensors(*plain).at("running_var") / splits;
    }
    ExpectNear(NormTensors(*split).at("running_mean"), mean);
    ExpectNear(NormTensors(*split).at("running_var"), variance);
    EXPECT_EQ(NormTensors(*split).at("num_batches_tracked").item<int64_t>(), 1);
  }
}

TEST(SplitBatchNorm, ASampleSeesItsOwnGroupAlone) {
  SplitBatchNorm split(2, 2);
  const auto x = NormInput(6, 2);
  const auto before = split(x);
  auto other = x.clone();
  other[1] += 5;
  const auto after = split(other);
  for (int64_t b = 0; b < 6; ++b) {
    EXPECT_EQ(torch::equal(before[b], after[b]), b % 2 == 0) << b;
  }
}

TEST(SplitBatchNorm, EvaluationUsesRunningStatisticsWhateverTheGroups) {
  SplitBatchNorm split(2, 2);
  SetWeights(*split);
  split(NormInput(4, 2));
  split->eval();
  const auto state = Clone(NormTensors(*split));
  const auto x = NormInput(4, 2);
  // (x - mean) / sqrt(var + 1e-5) * weight + bias, a channel at a time.
  const auto column = [&](const char* name) { return state.at(name).view({1, 2, 1, 1}); };
  const auto expected =
      (x - column("running_mean")) / (column("running_var") + 1e-5).sqrt() * column("weight") +
      column("bias");
  ExpectNear(split(x), expected);
  EXPECT_EQ(DigestOf(NormTensors(*split)), DigestOf(state)) << "evaluation changes nothing";
}

TEST(SplitBatchNorm, ABatchTheGroupsDoNotDivideTakesTheMostThatDo) {
  // {batch, splits asked for, groups used}
  const std::vector<std::vector<int64_t>> cases = {{9, 2, 1}, {9, 4, 3}, {10, 4, 2}, {6, 8, 6},
                                                   {7, 4, 1}, {1, 2, 1}, {8, 3, 2}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each[0]);
    SCOPED_TRACE(each[1]);
    SplitBatchNorm asked(3, each[1]), used(3, each[2]);
    const auto x = NormInput(each[0], 3);
    EXPECT_TRUE(torch::equal(asked(x), used(x)));
    EXPECT_EQ(DigestOf(NormTensors(*asked)), DigestOf(NormTensors(*used)));
  }
}

TEST(SplitBatchNorm, GradientsReachInputWeightAndBias) {
  SplitBatchNorm split(2, 2);
  torch::nn::BatchNorm2d even(2), odd(2);
  const auto x = NormInput(4, 2).requires_grad_(), again = NormInput(4, 2).requires_grad_();
  const auto scale = torch::arange(4 * 2 * 3 * 2, torch::kFloat32).view({4, 2, 3, 2}) / 10;
  (split(x) * scale).sum().backward();
  const auto first = torch::arange(0, 4, 2), second = torch::arange(1, 4, 2);
  ((even(again.index_select(0, first)) * scale.index_select(0, first)).sum() +
   (odd(again.index_select(0, second)) * scale.index_select(0, second)).sum())
      .backward();
  ExpectNear(x.grad(), again.grad());
  const auto gradient = [](const torch::nn::Module& norm, const char* name) {
    return norm.named_parameters()[name].grad();
  };
  for (const char* name : {"weight", "bias"}) {
    const auto expected = gradient(*even, name) + gradient(*odd, name);
    EXPECT_LT((gradient(*split, name) - expected).abs().max().item<double>(), 1e-4) << name;
  }
}

TEST(SplitBatchNorm, TakesAnyLayoutInMemory) {
  SplitBatchNorm a(3, 2), b(3, 2);
  const auto x = NormInput(4, 3);
  ExpectNear(a(x), b(x.contiguous(torch::MemoryFormat::ChannelsLast)));
  ExpectNear(NormTensors(*a).at("running_mean"), NormTensors(*b).at("running_mean"));
}

TEST(SplitBatchNorm, AGroupHasTwoValuesOfAChannel) {
  torch::manual_seed(1);
  SplitBatchNorm norm(3, 4);
  norm->train();
  // Rows without places: four rows make two groups, rows 0 and 2, rows 1 and 3.
  const auto x = torch::randn({4, 3});
  const auto y = norm(x);
  const auto difference = (x[0] - x[2]) / 2;
  const auto expected = difference / (difference.square() + 1e-5).sqrt();
  EXPECT_TRUE(torch::allclose(y[0], expected, 1e-4, 1e-4));
  EXPECT_TRUE(torch::allclose(y[2], -expected, 1e-4, 1e-4));
  // One row has no deviation: the running statistics, which it leaves alone.
  const auto before = norm->named_buffers()["running_var"].clone();
  const auto alone = norm(x.narrow(0, 0, 1));
  EXPECT_TRUE(torch::equal(norm->named_buffers()["running_var"], before));
  norm->eval();
  EXPECT_TRUE(torch::allclose(alone, norm(x.narrow(0, 0, 1))));
}

}  // namespace
}  // namespace kindred
