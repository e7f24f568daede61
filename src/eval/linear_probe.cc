#include "eval/linear_probe.h"

#include <torch/torch.h>

#include <limits>

#include "base/error.h"
#include "eval/labeled_subset.h"
#include "eval/score.h"

namespace kindred {
namespace {

constexpr int kIterations = 100;
constexpr double kMomentum = 0.9;
constexpr double kRates[] = {0.5, 1, 2, 4};  // of the step that the curvature's bound allows
constexpr double kHeldOutShare = 0.1;

// z = (h - mean) L^-T with L L^T = X^T X / 2N + I / N, X the centred features: the Hessian in V,
// W = L^-T V, is at most the identity (Boehning's bound on the softmax's curvature is 1/2).
struct Whitening {
  at::Tensor mean;     // [D]
  at::Tensor inverse;  // L^-T: [D, D]
  at::Tensor penalty;  // L^-1 L^-T / N: [D, D]
};

Whitening WhiteningOf(const at::Tensor& h) {
  const auto count = static_cast<double>(h.size(0));
  Whitening w;
  w.mean = h.mean(0, false, torch::kDouble).to(torch::kFloat);
  const auto x = h - w.mean;
  const auto eye = torch::eye(h.size(1), torch::kDouble);
  const auto bound = torch::mm(x.t(), x).to(torch::kDouble) / (2 * count) + eye / count;
  const auto lower = torch::linalg_cholesky(bound);
  const auto inverse = torch::linalg_solve_triangular(lower, eye, false);  // L^-1
  w.inverse = inverse.t().to(torch::kFloat).contiguous();
  w.penalty = (torch::mm(inverse, inverse.t()) / count).to(torch::kFloat);
  return w;
}

struct Fitted {
  at::Tensor v;     // [D, rates x classes]
  at::Tensor bias;  // [rates x classes]
};

// Fits a probe for each rate, side by side in one product. z: [N, D] whitened.
Fitted Descend(const at::Tensor& z, const at::Tensor& one_hot, const at::Tensor& penalty,
               std::span<const double> rates) {
  const int64_t count = z.size(0), classes = one_hot.size(1);
  const auto columns = static_cast<int64_t>(rates.size()) * classes;
  const auto rate = torch::tensor(std::vector<double>(rates.begin(), rates.end()))
                        .to(torch::kFloat)
                        .repeat_interleave(classes);  // [columns]
  Fitted at = {torch::zeros({z.size(1), columns}), torch::zeros({columns})};
  auto v_step = torch::zeros_like(at.v), bias_step = torch::zeros_like(at.bias);
  const auto transposed = z.t();
  for (int i = 0; i < kIterations; ++i) {
    const auto v = at.v + kMomentum * v_step, bias = at.bias + kMomentum * bias_step;
    auto error = torch::addmm(bias, z, v).view({count, -1, classes}).softmax(2);
    error.sub_(one_hot.unsqueeze(1)).div_(static_cast<double>(count));
    const auto flat = error.view({count, columns});
    v_step = kMomentum * v_step - rate * (torch::mm(transposed, flat) + torch::mm(penalty, v));
    bias_step = kMomentum * bias_step - 2 * rate * flat.sum(0);  // its curvature is at most 1/2
    at.v += v_step;
    at.bias += bias_step;
  }
  return at;
}

at::Tensor OneHot(std::span<const int> labels, int classes) {
  auto result = torch::zeros({static_cast<int64_t>(labels.size()), classes});
  float* data = result.data_ptr<float>();
  for (size_t i = 0; i < labels.size(); ++i) {
    data[i * static_cast<size_t>(classes) + static_cast<size_t>(labels[i])] = 1;
  }
  return result;
}

at::Tensor Rows(const at::Tensor& h, std::span<const int> indices) {
  return h.index_select(0, torch::tensor(std::vector<int64_t>(indices.begin(), indices.end())));
}

// Probes of all rates, as they apply to h.
std::vector<LinearProbe> Fit(const at::Tensor& h, std::span<const int> labels, int classes,
                             std::span<const double> rates) {
  const Whitening w = WhiteningOf(h);
  const auto z = torch::mm(h - w.mean, w.inverse);
  const Fitted fitted = Descend(z, OneHot(labels, classes), w.penalty, rates);
  const auto weights = torch::mm(w.inverse, fitted.v);  // [D, columns]
  const auto biases = fitted.bias - torch::mv(weights.t(), w.mean);
  std::vector<LinearProbe> probes;
  for (size_t r = 0; r < rates.size(); ++r) {
    const auto first = static_cast<int64_t>(r) * classes;
    probes.push_back({.weight = weights.narrow(1, first, classes).t().contiguous(),
                      .bias = biases.narrow(0, first, classes).contiguous(),
                      .lr = rates[r]});
  }
  return probes;
}

// The rate that is best on held-out training images; of equal ones that of the lower loss. One
// that diverged is never it.
LinearProbe BestOf(std::vector<LinearProbe> probes, const at::Tensor& h,
                   std::span<const int> labels, int classes) {
  const LinearProbe* best = nullptr;
  double best_loss = std::numeric_limits<double>::infinity();
  for (auto& probe : probes) {
    const auto logits = Logits(probe, h);
    const auto one_hot = OneHot(labels, classes);
    const double loss = -(logits.log_softmax(1) * one_hot).sum(1).mean().item<double>();
    if (!std::isfinite(loss)) continue;
    probe.held_out = ScoreOf(Argmax(logits), labels, classes).accuracy;
    if (best == nullptr || probe.held_out > best->held_out ||
        (probe.held_out == best->held_out && loss < best_loss)) {
      best = &probe;
      best_loss = loss;
    }
  }
  Check(best != nullptr, "the smallest rate diverged");
  return *best;
}

}  // namespace

LinearProbe FitLinearProbe(const at::Tensor& h, std::span<const int> labels, int classes,
                           uint64_t seed) {
  Check(h.size(0) == static_cast<int64_t>(labels.size()), "features and labels differ in number");
  torch::NoGradGuard no_gradient;
  Rng rng({.seed = seed, .purpose = Purpose::kHoldOut});
  const auto held_out = StratifiedSample(labels, classes, kHeldOutShare, rng);
  LinearProbe chosen{.lr = kRates[1]};  // with too few images to hold any out
  if (!held_out.empty()) {
    std::vector<int> rest;
    for (int i = 0, next = 0; i < h.size(0); ++i) {
      if (next < static_cast<int>(held_out.size()) && held_out[static_cast<size_t>(next)] == i) {
        ++next;
      } else {
        rest.push_back(i);
      }
    }
    chosen = BestOf(Fit(Rows(h, rest), LabelsOf(labels, rest), classes, kRates), Rows(h, held_out),
                    LabelsOf(labels, held_out), classes);
  }
  LinearProbe probe = Fit(h, labels, classes, std::span(&chosen.lr, 1))[0];
  probe.held_out = chosen.held_out;
  return probe;
}

at::Tensor Logits(const LinearProbe& probe, const at::Tensor& h) {
  return torch::addmm(probe.bias, h, probe.weight.t());
}

}  // namespace kindred
