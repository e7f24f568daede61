#include "eval/linear_probe.h"

#include <torch/torch.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "eval/labeled_subset.h"
#include "eval/score.h"
#include "model/one_thread.h"

namespace kindred {
namespace {

constexpr int kChoosing = 50, kFitting = 120;  // steps
constexpr double kMomentum = 0.9;
constexpr double kRates[] = {0.5, 0.8, 1.2};  // all safe: momentum .9 is stable up to 1.36
constexpr double kHeldOutShare = 0.1;
constexpr int64_t kBlock = 512, kGramBlock = 4096;  // rows: fixed, so that workers change no bit

// z = (h - mean) L^-T with L L^T = X^T X / 2N + I / N, X the centred features: the Hessian in V,
// W = L^-T V, is at most the identity (Boehning's bound on the softmax's curvature is 1/2).
struct Whitened {
  at::Tensor z;        // [N, D]
  at::Tensor mean;     // [D]
  at::Tensor inverse;  // L^-T: [D, D]
};

// X^T X in double, block by block: rounding must stay below the penalty, however alike rows are.
at::Tensor GramOf(const at::Tensor& x, int workers) {
  const int blocks = static_cast<int>((x.size(0) + kGramBlock - 1) / kGramBlock);
  std::vector<at::Tensor> parts(static_cast<size_t>(blocks));
  ParallelFor(std::clamp(blocks, 1, workers), blocks, [&](int, int block) {
    UseOneThread();
    torch::NoGradGuard no_gradient;
    const int64_t first = block * kGramBlock;
    const auto rows =
        x.narrow(0, first, std::min(kGramBlock, x.size(0) - first)).to(torch::kDouble);
    parts[static_cast<size_t>(block)] = torch::mm(rows.t(), rows);
  });
  auto sum = torch::zeros({x.size(1), x.size(1)}, torch::kDouble);
  for (const auto& part : parts) sum += part;
  return sum;
}

Whitened Whiten(const at::Tensor& h, int workers) {
  const auto count = static_cast<double>(h.size(0));
  Whitened w;
  w.mean = h.mean(0, false, torch::kDouble).to(torch::kFloat);
  const auto x = h - w.mean;
  const auto eye = torch::eye(h.size(1), torch::kDouble);
  const auto bound = GramOf(x, workers) / (2 * count) + eye / count;
  const auto lower = torch::linalg_cholesky(bound);
  w.inverse = torch::linalg_solve_triangular(lower, eye, false).t().to(torch::kFloat).contiguous();
  w.z = torch::mm(x, w.inverse);
  return w;
}

struct Fitted {
  at::Tensor v;     // [D, rates x classes]
  at::Tensor bias;  // [rates x classes]
};

// Fits a probe for each rate, side by side in one product. z: [N, D], penalty: [D, D].
Fitted Descend(const at::Tensor& z, const at::Tensor& one_hot, const at::Tensor& penalty,
               std::span<const double> rates, int steps, int workers) {
  const int64_t count = z.size(0), classes = one_hot.size(1);
  const auto columns = static_cast<int64_t>(rates.size()) * classes;
  const auto rate = torch::tensor(std::vector<double>(rates.begin(), rates.end()))
                        .to(torch::kFloat)
                        .repeat_interleave(classes);  // [columns]
  Fitted at = {torch::zeros({z.size(1), columns}), torch::zeros({columns})};
  auto v_step = torch::zeros_like(at.v), bias_step = torch::zeros_like(at.bias);
  const int blocks = static_cast<int>((count + kBlock - 1) / kBlock);
  std::vector<Fitted> parts(static_cast<size_t>(blocks));  // of the gradient
  for (int i = 0; i < steps; ++i) {
    const auto v = at.v + kMomentum * v_step, bias = at.bias + kMomentum * bias_step;
    // A block's rows stay in the cache between the two products.
    ParallelFor(std::clamp(blocks, 1, workers), blocks, [&](int, int block) {
      UseOneThread();
      torch::NoGradGuard no_gradient;
      const int64_t first = block * kBlock, rows = std::min(kBlock, count - first);
      const auto own = z.narrow(0, first, rows);
      auto error = torch::addmm(bias, own, v).view({rows, -1, classes}).softmax(2);
      error.sub_(one_hot.narrow(0, first, rows).unsqueeze(1));
      const auto flat = error.view({rows, columns});
      parts[static_cast<size_t>(block)] = {torch::mm(own.t(), flat), flat.sum(0)};
    });
    Fitted gradient = {torch::zeros_like(at.v), torch::zeros_like(at.bias)};
    for (const auto& part : parts) {
      gradient.v += part.v;
      gradient.bias += part.bias;
    }
    const auto mean = 1 / static_cast<double>(count);
    v_step = kMomentum * v_step - rate * (mean * gradient.v + torch::mm(penalty, v));
    bias_step = kMomentum * bias_step - 2 * mean * rate * gradient.bias;  // curvature: at most 1/2
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

// Probes of all rates fitted to the chosen rows, as they apply to h.
std::vector<LinearProbe> Fit(const Whitened& w, std::span<const int> rows,
                             std::span<const int> labels, int classes,
                             std::span<const double> rates, int steps, int workers) {
  // |W|^2 / 2n of n rows, in V: its gradient is L^-1 L^-T V / n.
  const auto penalty = torch::mm(w.inverse.t(), w.inverse) / static_cast<double>(rows.size());
  const Fitted fitted = Descend(Rows(w.z, rows), OneHot(LabelsOf(labels, rows), classes), penalty,
                                rates, steps, workers);
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
                           uint64_t seed, int workers) {
  Check(h.size(0) == static_cast<int64_t>(labels.size()), "features and labels differ in number");
  UseOneThread();  // the number of threads would change bits
  torch::NoGradGuard no_gradient;
  const Whitened whitened = Whiten(h, workers);
  Rng rng({.seed = seed, .purpose = Purpose::kHoldOut});
  const auto held_out = StratifiedSample(labels, classes, kHeldOutShare, rng);
  std::vector<int> all(labels.size());
  std::iota(all.begin(), all.end(), 0);
  LinearProbe chosen{.lr = 1};  // with too few images to hold any out
  if (!held_out.empty()) {
    std::vector<int> rest;
    std::set_difference(all.begin(), all.end(), held_out.begin(), held_out.end(),
                        std::back_inserter(rest));
    chosen = BestOf(Fit(whitened, rest, labels, classes, kRates, kChoosing, workers),
                    Rows(h, held_out), LabelsOf(labels, held_out), classes);
  }
  LinearProbe probe =
      Fit(whitened, all, labels, classes, std::span(&chosen.lr, 1), kFitting, workers)[0];
  probe.held_out = chosen.held_out;
  return probe;
}

void CheckConverged(const LinearProbe& probe) {
  if (!torch::isfinite(probe.weight).all().item<bool>() ||
      !torch::isfinite(probe.bias).all().item<bool>()) {
    throw UsageError(
        "the linear classifier diverged: its protocol's learning rate is too high for these "
        "features or labels");
  }
}

at::Tensor Logits(const LinearProbe& probe, const at::Tensor& h) {
  return torch::addmm(probe.bias, h, probe.weight.t());
}

}  // namespace kindred
