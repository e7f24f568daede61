#include "model/momentum.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace kindred {
namespace {

Network MomentumNetwork(uint64_t seed) {
  Network network(ModelOptions{.arch = "resnet10", .width = 2, .dim = 4}, 1);
  Initialize(*network, seed);
  torch::manual_seed(seed);
  network(torch::randn({4, 1, 8, 8}) + static_cast<double>(seed));  // moves the buffers
  return network;
}

TEST(Momentum, HandValue) {
  Network k = MomentumNetwork(1), q = MomentumNetwork(2);
  TensorsOf(*k).at("projector/3.bias").fill_(2);
  TensorsOf(*q).at("projector/3.bias").fill_(10);
  UpdateMomentum(*k, *q, 0.75);
  // 0.75 x 2 + 0.25 x 10
  EXPECT_EQ(TensorsOf(*k).at("projector/3.bias")[0].item<float>(), 4);
  UpdateMomentum(*k, *q, 0.75);
  // 0.75 x 4 + 0.25 x 10
  EXPECT_EQ(TensorsOf(*k).at("projector/3.bias")[3].item<float>(), 5.5);
}

TEST(Momentum, MovesEveryParameterAndNoBuffer) {
  Network k = MomentumNetwork(1), q = MomentumNetwork(2);
  const auto before = Clone(TensorsOf(*k)), from = Clone(TensorsOf(*q));
  constexpr double kMomentum = 0.9;
  UpdateMomentum(*k, *q, kMomentum);
  int buffers = 0;
  for (const auto& [name, tensor] : TensorsOf(*k)) {
    if (name.find("running_") != std::string::npos ||
        name.find("num_batches") != std::string::npos) {
      EXPECT_TRUE(torch::equal(tensor, before.at(name))) << name;
      ++buffers;
      continue;
    }
    const auto expected = kMomentum * before.at(name).to(torch::kDouble) +
                          (1 - kMomentum) * from.at(name).to(torch::kDouble);
    EXPECT_LT((tensor - expected).abs().max().item<double>(), 1e-6) << name;
  }
  EXPECT_EQ(buffers, 3 * (1 + 4 * 2 + 3 + 1));
  EXPECT_FALSE(
      torch::equal(before.at("encoder/bn1.running_mean"), from.at("encoder/bn1.running_mean")))
      << "the test must be able to see a buffer move";
  EXPECT_EQ(DigestOf(TensorsOf(*q)), DigestOf(from)) << "q stays";
}

TEST(Momentum, OneKeepsAndZeroCopies) {
  Network k = MomentumNetwork(1), q = MomentumNetwork(2);
  const auto before = Clone(TensorsOf(*k));
  UpdateMomentum(*k, *q, 1);
  EXPECT_EQ(DigestOf(TensorsOf(*k)), DigestOf(before));
  UpdateMomentum(*k, *q, 0);
  for (size_t i = 0; i < k->parameters().size(); ++i) {
    EXPECT_TRUE(torch::equal(k->parameters()[i], q->parameters()[i])) << i;
  }
}

TEST(Momentum, LeavesNoGradientBehind) {
  Network k = MomentumNetwork(1), q = MomentumNetwork(2);
  UpdateMomentum(*k, *q, 0.5);
  for (const auto& parameter : k->parameters()) {
    EXPECT_TRUE(parameter.is_leaf());
    EXPECT_FALSE(parameter.grad_fn());
  }
}

}  // namespace
}  // namespace kindred
