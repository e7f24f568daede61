#include "method/ccl.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/network.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// The setting of tests/golden/moco.py.
constexpr int kMocoBatch = 8, kMocoSide = 16, kMocoSteps = 10;

MethodContext MocoContext() {
  return {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 2},
          .method = {.name = "moco", .ccl = {.bank = 20, .tau = 0.1, .momentum = 0.9}},
          .channels = 3,
          .batch = kMocoBatch};
}

// The weights of moco.py, by the same formulas.
NamedTensors MocoWeights(const NamedTensors& like) {
  NamedTensors weights;
  int t = 0;
  for (const auto& [name, tensor] : like) {
    const double place = t++;
    if (name.find("running") != std::string::npos ||
        name.find("num_batches") != std::string::npos) {
      weights.emplace(name, tensor.clone());
      continue;
    }
    auto wave = torch::sin(0.7 * torch::arange(tensor.numel(), torch::kDouble) + 1.3 * place);
    if (tensor.dim() == 4) {
      wave = wave *
             std::sqrt(2.0 / static_cast<double>(tensor.size(0) * tensor.size(2) * tensor.size(3)));
    } else if (tensor.dim() == 2) {
      wave = wave / std::sqrt(static_cast<double>(tensor.size(1)));
    } else {
      wave = 0.1 * wave + (name.ends_with("weight") ? 1.0 : 0.0);
    }
    weights.emplace(name, wave.to(torch::kFloat).view(tensor.sizes()));
  }
  return weights;
}

at::Tensor MocoViews(int step, int number) {
  const auto i = torch::arange(3 * kMocoSide * kMocoSide, torch::kDouble);
  std::vector<at::Tensor> rows;
  for (int b = 0; b < kMocoBatch; ++b) {
    rows.push_back(torch::sin(0.11 * i + 1.7 * b + 0.9 * step + 0.5 * number) *
                   torch::cos(0.013 * i * (b + 1)));
  }
  return torch::stack(rows).to(torch::kFloat).view({kMocoBatch, 3, kMocoSide, kMocoSide});
}

// Norm and first values of a tensor against the script's, within 1e-4.
void ExpectProbes(const at::Tensor& tensor, const nlohmann::json& probes, const std::string& name) {
  const auto flat = tensor.to(torch::kDouble).flatten();
  const double norm = probes[0].get<double>();
  // Of a typical element; the norm of many may be off by as much each.
  const double typical = norm / std::sqrt(static_cast<double>(flat.numel()));
  const double tolerance = 1e-4 * std::max(typical, 1e-3);
  EXPECT_NEAR(flat.norm().item<double>(), norm, 1e-4 * std::max(norm, 1e-3)) << name;
  for (int64_t i = 0; i < std::min<int64_t>(3, flat.numel()); ++i) {
    EXPECT_NEAR(flat[i].item<double>(), probes[static_cast<size_t>(i) + 1].get<double>(), tolerance)
        << name << "[" << i << "]";
  }
}

TEST(Moco, FollowsPlainPyTorchForTenSteps) {
  torch::set_num_threads(1);
  std::ifstream in(std::string(KINDRED_SOURCE_DIR) + "/tests/golden/moco.json");
  const auto golden = nlohmann::json::parse(in);
  const auto method = MakeMoco(MocoContext());
  const NamedTensors shared = method->Shared();
  NamedTensors start;
  AddUnder(start, "q", MocoWeights(Under(shared, "q")));
  AddUnder(start, "k", MocoWeights(Under(shared, "q")));
  CopyInto(start, shared);
  NamedTensors local = method->NewLocalState();
  method->BeginRound({});
  torch::optim::SGD sgd(method->Trained(),
                        torch::optim::SGDOptions(0.06).momentum(0.9).weight_decay(5e-4));
  for (int step = 0; step < kMocoSteps; ++step) {
    const Batch batch = {.first = MocoViews(step, 0),
                         .second = MocoViews(step, 1),
                         .key = {.seed = 5,
                                 .round = 3,
                                 .client = 2,
                                 .epoch = 1,
                                 .step = static_cast<uint64_t>(step)},
                         .samples = std::vector<int>(kMocoBatch)};
    sgd.zero_grad();
    const auto loss = method->Loss(batch, local);
    loss.backward();
    sgd.step();
    method->AfterStep(local);
    const double expected = golden["losses"][static_cast<size_t>(step)].get<double>();
    EXPECT_NEAR(loss.item<double>(), expected, 1e-4 * std::max(1.0, expected)) << "step " << step;
  }
  ASSERT_EQ(shared.size(), golden["tensors"].size());
  for (const auto& [name, tensor] : shared) ExpectProbes(tensor, golden["tensors"][name], name);
  ExpectProbes(local.at("bank"), golden["bank"], "bank");
  EXPECT_EQ(local.at("bank_count").item<int64_t>(), kMocoBatch * kMocoSteps);
}

TEST(Moco, MomentumModelStartsAsTheMainModelAndIsNotTrained) {
  const auto method = MakeMoco(MocoContext());
  const NamedTensors shared = method->Shared();
  for (const auto& [name, tensor] : Under(shared, "q")) {
    EXPECT_TRUE(torch::equal(tensor, shared.at("k/" + name))) << name;
  }
  EXPECT_EQ(method->Trained().size(),
            40u);  // of q alone: 12 convolutions, 12 norms of 2, a projector
}

TEST(Moco, RefusesABankBelowTheBatch) {
  MethodContext context = MocoContext();
  context.method.ccl.bank = 7;
  ExpectError(ExitCode::kUsage, "ccl.bank = 7 is below train.batch = 8",
              [&] { MakeMoco(context); });
}

}  // namespace
}  // namespace kindred
