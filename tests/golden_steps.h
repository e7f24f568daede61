// Golden values of PyTorch scripts: what tests/golden/plain.py and losses.py build, built again.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "method/method.h"

namespace kindred {

inline nlohmann::json GoldenFile(const std::string& name) {
  std::ifstream in(std::string(KINDRED_SOURCE_DIR) + "/tests/golden/" + name);
  return nlohmann::json::parse(in);
}

// Models, views and banks that are made while it lives hold doubles, as in the scripts. In float
// the steps below magnify rounding: the results of two instruction sets differ by up to 2e-3.
class GoldenDoubles {
 public:
  GoldenDoubles() {
    torch::set_num_threads(1);
    torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  }
  ~GoldenDoubles() { torch::set_default_dtype(caffe2::TypeMeta::Make<float>()); }
  GoldenDoubles(const GoldenDoubles&) = delete;
  GoldenDoubles& operator=(const GoldenDoubles&) = delete;
};

// The setting of plain.py; the torch engine takes doubles.
inline constexpr int kGoldenBatch = 8, kGoldenSide = 16;
inline const ModelOptions kGoldenModel = {
    .arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 2, .engine = "torch"};

// Relative, of losses and tensors after golden steps in double. Instruction sets change them by
// 1.5e-12 at most. Of the mistakes in tests/golden/mistakes.py, no weight decay changes them least,
// by 3e-5; those in a method or a norm change them by 2e-3 and more.
inline constexpr double kGoldenTolerance = 1e-9;

// Its weights, by the same formulas.
inline NamedTensors GoldenWeights(const NamedTensors& like) {
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
    weights.emplace(name, wave.to(tensor.scalar_type()).view(tensor.sizes()));
  }
  return weights;
}

// Its views of a step: number 0 or 1.
inline at::Tensor GoldenViews(int step, int number) {
  const auto i = torch::arange(3 * kGoldenSide * kGoldenSide, torch::kDouble);
  std::vector<at::Tensor> rows;
  for (int b = 0; b < kGoldenBatch; ++b) {
    rows.push_back(torch::sin(0.11 * i + 1.7 * b + 0.9 * step + 0.5 * number) *
                   torch::cos(0.013 * i * (b + 1)));
  }
  return torch::stack(rows)
      .to(torch::get_default_dtype())
      .view({kGoldenBatch, 3, kGoldenSide, kGoldenSide});
}

// Its images of a step: some come again while their keys are in the bank.
inline std::vector<int> GoldenSamples(int step) {
  std::vector<int> samples;
  for (int b = 0; b < kGoldenBatch; ++b) samples.push_back((5 * step + b) % 19);
  return samples;
}

inline Batch GoldenStep(int step) {
  return {
      .first = GoldenViews(step, 0),
      .second = GoldenViews(step, 1),
      .key = {.seed = 5, .round = 3, .client = 2, .epoch = 1, .step = static_cast<uint64_t>(step)},
      .samples = GoldenSamples(step)};
}

// Norm and first values of a tensor against the script's, each within a share of itself.
inline void ExpectProbes(const at::Tensor& tensor, const nlohmann::json& probes,
                         const std::string& name, double tolerance = kGoldenTolerance) {
  const auto flat = tensor.to(torch::kDouble).flatten();
  const double norm = probes[0].get<double>();
  // Of a typical element; the norm of many may be off by as much each.
  const double typical = norm / std::sqrt(static_cast<double>(flat.numel()));
  EXPECT_NEAR(flat.norm().item<double>(), norm, tolerance * std::max(norm, 1e-3)) << name;
  for (int64_t i = 0; i < std::min<int64_t>(3, flat.numel()); ++i) {
    EXPECT_NEAR(flat[i].item<double>(), probes[static_cast<size_t>(i) + 1].get<double>(),
                tolerance * std::max(typical, 1e-3))
        << name << "[" << i << "]";
  }
}

// As many steps of SGD as the script took, from what Shared() and `local` hold; their losses.
inline std::vector<double> TakeGoldenSteps(Method& method, NamedTensors& local,
                                           const nlohmann::json& golden) {
  method.BeginRound({}, local);
  torch::optim::SGD sgd(
      method.Trained(),
      torch::optim::SGDOptions(golden.value("lr", 0.06)).momentum(0.9).weight_decay(5e-4));
  std::vector<double> losses;
  for (int step = 0; step < static_cast<int>(golden["losses"].size()); ++step) {
    sgd.zero_grad();
    Batch batch = GoldenStep(step);
    if (method.UsesLabels()) {  // of three classes
      batch.labels = (torch::arange(kGoldenBatch, torch::kInt64) + step) % 3;
    }
    const auto loss = method.Loss(batch, local);
    loss.backward();
    sgd.step();
    method.AfterStep(local);
    losses.push_back(loss.item<double>());
  }
  return losses;
}

// The same: losses and tensors against the script's own.
inline void ExpectGoldenSteps(Method& method, NamedTensors& local, const nlohmann::json& golden,
                              double tolerance = kGoldenTolerance) {
  const std::vector<double> losses = TakeGoldenSteps(method, local, golden);
  for (size_t step = 0; step < losses.size(); ++step) {
    const double expected = golden["losses"][step];
    EXPECT_NEAR(losses[step], expected, tolerance * std::max(1.0, expected)) << "step " << step;
  }
  const NamedTensors shared = method.Shared();
  ASSERT_EQ(shared.size(), golden["tensors"].size());
  for (const auto& [name, tensor] : shared) {
    ExpectProbes(tensor, golden["tensors"][name], name, tolerance);
  }
}

// losses.py's unit rows [n, d].
inline at::Tensor GoldenRows(int64_t n, int64_t d, double phase) {
  const auto i = torch::arange(n * d, torch::kDouble);
  return torch::nn::functional::normalize(torch::sin(0.9 * i + phase + 0.01 * i * i).view({n, d}));
}

inline at::Tensor GoldenTensor(const nlohmann::json& values, at::IntArrayRef shape) {
  return torch::tensor(values.get<std::vector<double>>(), torch::kDouble).view(shape);
}

// A loss and its gradients to `inputs` against the script's.
inline void ExpectGoldenLoss(const at::Tensor& loss, const std::vector<at::Tensor>& inputs,
                             const std::string& name) {
  const auto golden = GoldenFile("losses.json")[name];
  EXPECT_NEAR(loss.item<double>(), golden["loss"].get<double>(), 1e-12) << name;
  const auto gradients = torch::autograd::grad({loss}, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto expected = GoldenTensor(golden["gradients"][i], inputs[i].sizes());
    EXPECT_TRUE(torch::allclose(gradients[i], expected, 1e-9, 1e-12)) << name << " input " << i;
  }
}

// The derivative of a scalar function by central differences, in double.
template <class Function>
at::Tensor SlopesOf(const Function& function, const at::Tensor& x) {
  constexpr double kStep = 1e-5;
  auto slopes = torch::zeros_like(x);
  for (int64_t i = 0; i < x.numel(); ++i) {
    auto up = x.detach().clone(), down = x.detach().clone();
    up.view(-1)[i] += kStep;
    down.view(-1)[i] -= kStep;
    slopes.view(-1)[i] = (function(up) - function(down)) / (2 * kStep);
  }
  return slopes;
}

}  // namespace kindred
