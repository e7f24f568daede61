#include "eval/linear_probe.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eval/score.h"

namespace kindred {
namespace {

struct ProbeData {
  torch::Tensor h;
  std::vector<int> labels;
};

// Overlapping classes whose dimensions have very different scales and are correlated.
ProbeData Blobs(int64_t count, int classes, int64_t dim, int seed) {
  torch::manual_seed(7);
  const auto centers = torch::randn({classes, dim});
  const auto mix = torch::randn({dim, dim}) * torch::logspace(-1.5, 0.5, dim);
  torch::manual_seed(seed);
  ProbeData data;
  for (int64_t i = 0; i < count; ++i) data.labels.push_back(static_cast<int>(i) % classes);
  const auto index = torch::tensor(std::vector<int64_t>(data.labels.begin(), data.labels.end()));
  data.h = torch::mm(centers.index_select(0, index) + torch::randn({count, dim}), mix) + 3;
  return data;
}

// The objective in double, as it is written in the header.
torch::Tensor Objective(const torch::Tensor& weight, const torch::Tensor& bias,
                        const ProbeData& data) {
  const auto index = torch::tensor(std::vector<int64_t>(data.labels.begin(), data.labels.end()));
  const auto logits = torch::mm(data.h.to(torch::kDouble), weight.t()) + bias;
  return torch::nn::functional::cross_entropy(logits, index) +
         weight.square().sum() / (2.0 * static_cast<double>(data.h.size(0)));
}

// Its least value, by L-BFGS to convergence.
double LeastObjective(const ProbeData& data, int classes) {
  auto weight = torch::zeros({classes, data.h.size(1)}, torch::kDouble).requires_grad_();
  auto bias = torch::zeros({classes}, torch::kDouble).requires_grad_();
  torch::optim::LBFGS lbfgs(
      std::vector<at::Tensor>{weight, bias},
      torch::optim::LBFGSOptions(1).max_iter(2000).line_search_fn("strong_wolfe"));
  lbfgs.step([&] {
    lbfgs.zero_grad();
    const auto loss = Objective(weight, bias, data);
    loss.backward();
    return loss;
  });
  return Objective(weight, bias, data).item<double>();
}

TEST(LinearProbe, IsAtTheLeastOfItsObjective) {
  for (const int classes : {2, 5, 10}) {
    for (const int64_t dim : {3, 16}) {
      const ProbeData data = Blobs(600, classes, dim, 1);
      const LinearProbe probe = FitLinearProbe(data.h, data.labels, classes, 0);
      const double own =
          Objective(probe.weight.to(torch::kDouble), probe.bias.to(torch::kDouble), data)
              .item<double>();
      EXPECT_NEAR(own, LeastObjective(data, classes), 3e-3)
          << classes << " classes, " << dim << " dimensions, lr " << probe.lr;
    }
  }
}

TEST(LinearProbe, WorkersDoNotChangeABit) {
  const ProbeData data = Blobs(1700, 5, 16, 1);
  const LinearProbe one = FitLinearProbe(data.h, data.labels, 5, 0, 1);
  const LinearProbe three = FitLinearProbe(data.h, data.labels, 5, 0, 3);
  EXPECT_TRUE(torch::equal(one.weight, three.weight));
  EXPECT_TRUE(torch::equal(one.bias, three.bias));
}

TEST(LinearProbe, SaysHowTheHeldOutTenthWasClassified) {
  const ProbeData data = Blobs(600, 5, 16, 1);
  const LinearProbe probe = FitLinearProbe(data.h, data.labels, 5, 0);
  EXPECT_GT(probe.held_out, 0.5);
  EXPECT_LE(probe.held_out, 1);
  // 60 are held out: the accuracy is a multiple of 1/60.
  EXPECT_NEAR(std::fmod(probe.held_out * 60 + 1e-9, 1), 0, 1e-6);
}

// Features of a collapsed encoder: of rank 4, far apart, with nothing in the other directions.
TEST(LinearProbe, FewDirectionsOfManyAreEnough) {
  const ProbeData small = Blobs(2000, 5, 4, 1);
  torch::manual_seed(3);
  ProbeData data = {30 * torch::mm(small.h, torch::randn({4, 64})), small.labels};
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const LinearProbe probe = FitLinearProbe(data.h, data.labels, 5, seed);
    const double own =
        Objective(probe.weight.to(torch::kDouble), probe.bias.to(torch::kDouble), data)
            .item<double>();
    EXPECT_LT(own, LeastObjective(data, 5) + 0.01) << seed;  // L-BFGS itself is far from done here
  }
}

TEST(LinearProbe, AConstantDimensionDoesNoHarm) {
  ProbeData data = Blobs(300, 3, 8, 1);
  const double without = FitLinearProbe(data.h, data.labels, 3, 0).held_out;
  data.h = torch::cat({data.h, torch::full({300, 1}, 2.5f), torch::zeros({300, 1})}, 1);
  const LinearProbe probe = FitLinearProbe(data.h, data.labels, 3, 0);
  EXPECT_NEAR(probe.held_out, without, 0.05);
  EXPECT_TRUE(torch::isfinite(probe.weight).all().item<bool>());
}

TEST(LinearProbe, FewerImagesThanCanBeHeldOutAreStillFitted) {
  const auto h = torch::tensor({{1.0f, 0.0f}, {0.0f, 1.0f}, {0.9f, 0.1f}});
  const std::vector<int> labels = {0, 1, 0};
  const LinearProbe probe = FitLinearProbe(h, labels, 2, 0);
  EXPECT_EQ(Argmax(Logits(probe, h)), labels);
}

}  // namespace
}  // namespace kindred
