#include "loss/nt_xent.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

// The equation written out: a loop a sum.
double NtXentByLoops(const at::Tensor& z, const at::Tensor& negatives, double tau) {
  const auto dot = [](const at::Tensor& a, const at::Tensor& b) {
    return (a * b).sum().item<double>();
  };
  const int64_t views = z.size(0);
  double loss = 0;
  for (int64_t i = 0; i < views; ++i) {
    const int64_t j = (i + views / 2) % views;
    double all = 0;
    for (int64_t k = 0; k < views; ++k) {
      if (k != i) all += std::exp(dot(z[i], z[k]) / tau);
    }
    for (int64_t n = 0; n < negatives.size(0); ++n) all += std::exp(dot(z[i], negatives[n]) / tau);
    loss += std::log(all) - dot(z[i], z[j]) / tau;
  }
  return loss / static_cast<double>(views);
}

TEST(NtXent, IsTheFormulaWrittenOut) {
  for (const int64_t batch : {1, 2, 5}) {
    for (const int64_t negatives : {0, 1, 9}) {
      for (const double tau : {0.1, 0.5, 2.0}) {
        const auto z = GoldenRows(2 * batch, 6, 0.1), n = GoldenRows(negatives, 6, 0.8);
        const double expected = NtXentByLoops(z, n, tau);
        EXPECT_NEAR(NtXent(z, n, tau).item<double>(), expected, 1e-10 * (1 + expected))
            << batch << " " << negatives << " " << tau;
      }
    }
  }
}

TEST(NtXent, HandValue) {
  // Two images, views e1, e2 | e1, e2, tau 1: each view has its partner at 1 and two others at 0.
  const auto z = torch::eye(2, torch::kDouble).repeat({2, 1});
  EXPECT_NEAR(NtXent(z, torch::empty({0, 2}, torch::kDouble), 1).item<double>(),
              std::log(std::exp(1.0) + 2) - 1, 1e-12);
}

TEST(NtXent, GradientIsThatOfFiniteDifferences) {
  const auto z = GoldenRows(6, 4, 0.1).requires_grad_(), n = GoldenRows(3, 4, 0.8);
  const auto gradient = torch::autograd::grad({NtXent(z, n, 0.5)}, {z})[0];
  const auto slopes = SlopesOf([&](const at::Tensor& x) { return NtXentByLoops(x, n, 0.5); }, z);
  EXPECT_TRUE(torch::allclose(gradient, slopes, 1e-6, 1e-8));
}

TEST(NtXent, IsPyTorchs) {
  const auto z = GoldenRows(8, 5, 0.3).requires_grad_(), dictionary = GoldenRows(7, 5, 2.0);
  ExpectGoldenLoss(NtXent(z, dictionary.narrow(0, 0, 0), 0.5), {z}, "nt_xent");
  ExpectGoldenLoss(NtXent(z, dictionary, 0.5), {z}, "nt_xent_dictionary");
}

TEST(NtXent, NoGradientFlowsToTheDictionary) {
  const auto z = GoldenRows(4, 5, 0.3).requires_grad_();
  const auto dictionary = GoldenRows(7, 5, 2.0).requires_grad_();
  NtXent(z, dictionary, 0.5).backward();
  EXPECT_TRUE(z.grad().defined());
  EXPECT_FALSE(dictionary.grad().defined());
}

}  // namespace
}  // namespace kindred
