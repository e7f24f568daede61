#include "model/fast_resnet.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/network.h"

namespace kindred {
namespace {

struct Twins {
  ResNet fast{nullptr}, torch{nullptr};
};

// The same weights and running statistics in both engines; `lift` is added to what norms add.
Twins MakeTwins(ModelOptions options, int64_t channels, double lift = 0) {
  Twins twins;
  options.engine = "fast";
  twins.fast = ResNet(options, channels);
  options.engine = "torch";
  twins.torch = ResNet(options, channels);
  Initialize(*twins.fast, 5);
  torch::NoGradGuard no_gradient;
  torch::manual_seed(6);
  for (auto& entry : twins.fast->named_parameters()) {
    if (entry.value().dim() == 1) entry.value() += 0.3 * torch::randn_like(entry.value());
    if (entry.key().ends_with("bias")) entry.value() += lift;
  }
  CopyInto(OwnTensorsOf(*twins.fast), OwnTensorsOf(*twins.torch));
  return twins;
}

// In double, with the same values.
ResNet InDouble(const ResNet& model, ModelOptions options, int64_t channels) {
  options.engine = "torch";
  ResNet result(options, channels);
  CopyInto(OwnTensorsOf(*model), OwnTensorsOf(*result));
  result->to(torch::kDouble);
  return result;
}

double Distance(const at::Tensor& own, const at::Tensor& reference) {
  const auto exact = reference.to(torch::kDouble);
  return ((own.to(torch::kDouble) - exact).norm() / (exact.norm() + 1e-12)).item<double>();
}

// All gradients in one row.
at::Tensor GradientsOf(const ResNet& model) {
  std::vector<at::Tensor> rows;
  for (const auto& parameter : model->parameters()) {
    rows.push_back(parameter.grad().flatten().to(torch::kDouble));
  }
  return torch::cat(rows);
}

struct Case {
  std::string arch;
  int width, splits;
  int64_t batch, channels, height, side;
};

// Both engines are held against double precision. Winograd's transforms cost about a digit, and
// where a value is as good as zero, ReLU may be on in one and off in the other, so that gradients
// jump: `lift` shifts all norms up until it is on nearly everywhere.
TEST(FastResNet, IsTheResNetAndItsGradients) {
  for (const Case& c : std::vector<Case>{{"resnet18", 16, 2, 8, 3, 32, 32},
                                         {"resnet18", 8, 4, 6, 1, 28, 28},
                                         {"resnet10", 3, 1, 5, 3, 9, 13},
                                         {"resnet10", 24, 2, 12, 3, 7, 7},
                                         {"resnet10", 5, 2, 16, 3, 1, 1}}) {
    for (const double lift : {0.0, 4.0}) {
      const ModelOptions options = {.arch = c.arch, .width = c.width, .bn_splits = c.splits};
      Twins twins = MakeTwins(options, c.channels, lift);
      ResNet exact = InDouble(twins.fast, options, c.channels);
      const auto x = torch::randn({c.batch, c.channels, c.height, c.side});
      for (const bool training : {true, false}) {
        const std::string what = fmt::format("{} width {}, {}x{}, lift {}, training {}", c.arch,
                                             c.width, c.height, c.side, lift, training);
        for (ResNet model : {twins.fast, twins.torch, exact}) {
          model->train(training);
          model->zero_grad();
        }
        const auto h = twins.fast->forward(x), other = twins.torch->forward(x),
                   reference = exact->forward(x.to(torch::kDouble));
        EXPECT_LT(Distance(h, reference), 20 * Distance(other, reference) + 1e-6) << what;
        EXPECT_LT(Distance(h, reference), 5e-4) << what;
        const auto dh = torch::randn_like(h);
        h.backward(dh);
        other.backward(dh);
        reference.backward(dh.to(torch::kDouble));
        const auto own = GradientsOf(twins.fast), expected = GradientsOf(exact);
        if (lift > 0) {
          EXPECT_LT(Distance(own, expected),
                    20 * Distance(GradientsOf(twins.torch), expected) + 1e-6)
              << what;
        }
        EXPECT_LT(Distance(own, expected), 3e-2) << what;
        for (const auto& entry : twins.fast->named_buffers()) {
          EXPECT_LT(Distance(entry.value(), exact->named_buffers()[entry.key()]), 1e-4)
              << entry.key() << ", " << what;
        }
      }
    }
  }
}

TEST(FastResNet, APassWithoutGradientsIsTheSame) {
  Twins twins = MakeTwins({.width = 8, .bn_splits = 2}, 3);
  const auto x = torch::randn({6, 3, 16, 16});
  for (const bool training : {true, false}) {
    twins.fast->train(training);
    const auto with = twins.fast->forward(x);
    torch::NoGradGuard no_gradient;
    EXPECT_TRUE(torch::equal(twins.fast->forward(x), with));
  }
}

TEST(FastResNet, ThreadsChangeNoBit) {
  ModelOptions options = {.width = 16, .bn_splits = 2};
  const auto x = torch::randn({12, 3, 20, 20});
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 3}) {
    options.threads = std::make_shared<std::atomic<int>>(threads);
    ResNet model(options, 3);
    Initialize(*model, 4);
    const auto h = model->forward(x);
    h.sum().backward();
    std::vector<at::Tensor> results = {h.detach()};
    for (const auto& parameter : model->parameters()) results.push_back(parameter.grad());
    for (const auto& buffer : model->buffers()) results.push_back(buffer);
    if (first.empty()) first = results;
    for (size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(torch::equal(results[i], first[i]));
  }
}

// Two passes alive at once, as losses on two views have them.
TEST(FastResNet, PassesDoNotMix) {
  ModelOptions options = {.width = 8};
  ResNet model(options, 3);
  Initialize(*model, 4);
  model->eval();
  const auto a = torch::randn({4, 3, 8, 8}), b = torch::randn({6, 3, 12, 12});
  const auto gradients = [&] {
    std::vector<at::Tensor> result;
    for (auto& parameter : model->parameters()) {
      result.push_back(parameter.grad().clone());
      parameter.mutable_grad() = at::Tensor();
    }
    return result;
  };
  (model->forward(a).sum() + 2 * model->forward(b).square().sum()).backward();
  const auto together = gradients();
  model->forward(a).sum().backward();
  const auto of_a = gradients();
  (2 * model->forward(b).square().sum()).backward();
  const auto of_b = gradients();
  for (size_t i = 0; i < together.size(); ++i) {
    EXPECT_TRUE(torch::allclose(together[i], of_a[i] + of_b[i], 1e-5, 1e-5));
  }
}

TEST(FastResNet, GradientsThatAreHeldStayAsTheyAre) {
  ResNet model(ModelOptions{.width = 8}, 3);
  Initialize(*model, 4);
  const auto x = torch::randn({4, 3, 8, 8});
  const auto parameters = model->parameters();
  auto held = torch::autograd::grad({model->forward(x).sum()}, parameters);
  const auto before = held[0].clone();
  const auto detached = held[1].detach();
  const auto detached_before = held[1].clone();
  held[1] = at::Tensor();  // only its storage is held now
  torch::autograd::grad({model->forward(2 * x).square().sum()}, parameters);
  EXPECT_TRUE(torch::equal(held[0], before));
  EXPECT_TRUE(torch::equal(detached, detached_before));
}

TEST(FastResNet, AGraphMayOutliveItsModule) {
  at::Tensor h, weight;
  {
    ResNet model(ModelOptions{.width = 8}, 3);
    Initialize(*model, 4);
    weight = model->parameters()[0];
    h = model->forward(torch::randn({4, 3, 8, 8}));
  }
  h.square().sum().backward();
  EXPECT_GT(weight.grad().abs().sum().item<double>(), 0);
}

TEST(FastResNet, RefusesAWayBackAfterWeightsHaveChanged) {
  ResNet model(ModelOptions{.width = 8}, 3);
  const auto h = model->forward(torch::randn({4, 3, 8, 8}));
  {
    torch::NoGradGuard no_gradient;
    model->parameters()[0] += 1;
  }
  EXPECT_THROW(h.sum().backward(), c10::Error);
}

TEST(FastResNet, ASteadyStepTakesNoNewMemory) {
  ResNet model(ModelOptions{.width = 8}, 3);
  const auto fast = MakeFastResNet(*model, ModelOptions{.width = 8}, 3);
  const auto x = torch::randn({8, 3, 16, 16});
  size_t held = 0;
  for (int step = 0; step < 4; ++step) {
    {
      torch::NoGradGuard no_gradient;
      fast->Forward(x, true);
    }
    fast->Forward(x, true).sum().backward();
    if (step == 0) held = fast->BytesHeld();
    EXPECT_EQ(fast->BytesHeld(), held);
  }
  EXPECT_GT(held, 0u);
}

// Divergence must be seen, not be hidden by ReLU.
TEST(FastResNet, LetsNaNThrough) {
  ResNet model(ModelOptions{.width = 8}, 3);
  auto x = torch::randn({4, 3, 8, 8});
  x[0][0][0][0] = NAN;
  EXPECT_TRUE(model->forward(x).isnan().any().item<bool>());
}

}  // namespace
}  // namespace kindred
