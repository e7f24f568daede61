#include "loss/contrastive.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>

namespace kindred {
namespace {

torch::Tensor ContrastiveRows(int64_t rows, int64_t dim, int seed) {
  torch::manual_seed(seed);
  return torch::nn::functional::normalize(torch::randn({rows, dim}, torch::kDouble));
}

// Equation 1 written out: a loop a sum.
double ContrastiveByLoops(const torch::Tensor& q, const torch::Tensor& k,
                          const torch::Tensor& negatives, double tau) {
  const auto dot = [](const torch::Tensor& a, const torch::Tensor& b) {
    double sum = 0;
    for (int64_t d = 0; d < a.size(0); ++d) sum += a[d].item<double>() * b[d].item<double>();
    return sum;
  };
  double loss = 0;
  for (int64_t i = 0; i < q.size(0); ++i) {
    const double positive = std::exp(dot(q[i], k[i]) / tau);
    double all = positive;
    for (int64_t n = 0; n < negatives.size(0); ++n) all += std::exp(dot(q[i], negatives[n]) / tau);
    loss += -std::log(positive / all);
  }
  return loss / static_cast<double>(q.size(0));
}

TEST(Contrastive, HandValue) {
  // q = k = (1, 0), one negative (0, 1): q.k = 1, q.n = 0, tau = 0.5.
  // -log(e^2 / (e^2 + 1)) = log(1 + e^-2) = 0.126928...
  const auto x = torch::tensor({{1.0f, 0.0f}}), y = torch::tensor({{0.0f, 1.0f}});
  EXPECT_NEAR(Contrastive(x, x, {{y}}, 0.5).item<double>(), 0.126928011, 1e-6);
  // A key opposite to its query: q.k = -1, -log(e^-2 / (e^-2 + 1)) = log(1 + e^2).
  EXPECT_NEAR(Contrastive(x, -x, {{y}}, 0.5).item<double>(), 2.126928011, 1e-6);
}

TEST(Contrastive, IsTheFormulaWrittenOut) {
  for (const int64_t batch : {1, 2, 5}) {
    for (const int64_t negatives : {0, 1, 7, 33}) {
      for (const int64_t dim : {1, 3, 16}) {
        for (const double tau : {0.05, 0.2, 1.0, 10.0}) {
          const auto q = ContrastiveRows(batch, dim, 1), k = ContrastiveRows(batch, dim, 2),
                     n = ContrastiveRows(negatives, dim, 3);
          const double expected = ContrastiveByLoops(q, k, n, tau);
          const auto loss = Contrastive(q, k, {{n}}, tau);
          EXPECT_EQ(loss.dim(), 0);
          EXPECT_NEAR(loss.item<double>(), expected, 1e-12 * (1 + expected))
              << batch << " " << negatives << " " << dim << " " << tau;
          const double single = Contrastive(q.to(torch::kFloat32), k.to(torch::kFloat32),
                                            {{n.to(torch::kFloat32)}}, tau)
                                    .item<double>();
          EXPECT_NEAR(single, expected, 1e-4 * (1 + expected));
        }
      }
    }
  }
}

TEST(Contrastive, WithoutNegativesIsZero) {
  const auto q = ContrastiveRows(4, 8, 1), k = ContrastiveRows(4, 8, 2);
  EXPECT_EQ(Contrastive(q, k, {{torch::zeros({0, 8}, torch::kDouble)}}, 0.1).item<double>(), 0);
}

TEST(Contrastive, RowsThatAreAllTheSameGiveTheLogOfTheirNumber) {
  // Every one of 1 + M logits is equal: -log(1 / (1 + M)).
  const auto row = ContrastiveRows(1, 8, 1);
  const auto loss =
      Contrastive(row.repeat({3, 1}), row.repeat({3, 1}), {{row.repeat({9, 1})}}, 0.07);
  EXPECT_NEAR(loss.item<double>(), std::log(10.0), 1e-12);
}

TEST(Contrastive, GradientToQueriesIsThatOfFiniteDifferences) {
  for (const double tau : {0.1, 0.5}) {
    const auto k = ContrastiveRows(3, 4, 2), n = ContrastiveRows(6, 4, 3);
    auto q = ContrastiveRows(3, 4, 1).requires_grad_();
    Contrastive(q, k, {{n}}, tau).backward();
    constexpr double kStep = 1e-5;
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t d = 0; d < 4; ++d) {
        auto up = q.detach().clone(), down = q.detach().clone();
        up[i][d] += kStep;
        down[i][d] -= kStep;
        const double slope =
            (ContrastiveByLoops(up, k, n, tau) - ContrastiveByLoops(down, k, n, tau)) / (2 * kStep);
        EXPECT_NEAR(q.grad()[i][d].item<double>(), slope, 1e-6 * (1 + std::abs(slope)));
      }
    }
  }
}

TEST(Contrastive, GradientFlowsToQueriesAlone) {
  const auto q = ContrastiveRows(3, 4, 1).requires_grad_();
  const auto k = ContrastiveRows(3, 4, 2).requires_grad_();
  const auto n = ContrastiveRows(5, 4, 3).requires_grad_();
  Contrastive(q, k, {{n}}, 0.2).backward();
  EXPECT_TRUE(q.grad().defined());
  EXPECT_FALSE(k.grad().defined());
  EXPECT_FALSE(n.grad().defined());
  EXPECT_FALSE(Contrastive(q.detach(), k, {{n}}, 0.2).requires_grad());
}

TEST(Contrastive, HugeLogitsStayFinite) {
  // tau = 1e-4: logits of +-1e4, whose exp overflows any float.
  const auto x = torch::tensor({{1.0f, 0.0f}});
  for (const double sign : {1.0, -1.0}) {
    auto q = x.clone().requires_grad_();
    const auto loss = Contrastive(q, sign * x, {{-sign * x}}, 1e-4);
    // The positive wins by 2e4: nothing to lose. It loses by 2e4: that is the loss.
    EXPECT_NEAR(loss.item<double>(), sign > 0 ? 0 : 2e4, 1e-2);
    loss.backward();
    EXPECT_TRUE(torch::isfinite(q.grad()).all().item<bool>());
  }
}

TEST(Contrastive, OrderOfNegativesDoesNotMatterAndMoreOfThemRaiseIt) {
  const auto q = ContrastiveRows(4, 8, 1), k = ContrastiveRows(4, 8, 2),
             n = ContrastiveRows(10, 8, 3);
  const double loss = Contrastive(q, k, {{n}}, 0.2).item<double>();
  EXPECT_NEAR(Contrastive(q, k, {{n.flip(0)}}, 0.2).item<double>(), loss, 1e-12);
  EXPECT_LT(Contrastive(q, k, {{n.narrow(0, 0, 9)}}, 0.2).item<double>(), loss);
}

// The plain twin: one matrix of logits.
torch::Tensor ContrastiveAtOnce(const torch::Tensor& q, const torch::Tensor& k,
                                const std::vector<Negatives>& negatives, double tau,
                                const torch::Tensor& samples) {
  std::vector<torch::Tensor> logits = {(q * k).sum(1, true) / tau};
  for (const auto& bank : negatives) {
    auto all = torch::mm(q, bank.rows.t()) / tau + std::log(bank.weight);
    if (bank.samples.defined()) {
      all = all.masked_fill(bank.samples == samples.unsqueeze(1), -INFINITY);
    }
    logits.push_back(all);
  }
  const auto all = torch::cat(logits, 1);
  return (torch::logsumexp(all, 1) - all.select(1, 0)).mean();
}

TEST(Contrastive, AQuerysOwnKeysAreNoNegativesOfIt) {
  const auto q = ContrastiveRows(3, 8, 1), k = ContrastiveRows(3, 8, 2),
             n = ContrastiveRows(5, 8, 3);
  const auto samples = torch::tensor({4, 7, 9}, torch::kInt64);
  // Rows 1 and 3 are the first query's, row 4 the third's; the second has none.
  const auto owners = torch::tensor({0, 4, 2, 4, 9}, torch::kInt64);
  const double loss = Contrastive(q, k, {{n, owners}}, 0.2, samples).item<double>();
  const auto of = [&](int64_t i, const std::vector<int64_t>& rows) {
    return ContrastiveByLoops(q.narrow(0, i, 1), k.narrow(0, i, 1),
                              n.index_select(0, torch::tensor(rows, torch::kInt64)), 0.2);
  };
  EXPECT_NEAR(loss, (of(0, {0, 2, 4}) + of(1, {0, 1, 2, 3, 4}) + of(2, {0, 1, 2, 3})) / 3, 1e-12);
  // With every row its own, nothing is contrasted with.
  EXPECT_EQ(Contrastive(q, k, {{n, torch::full({5}, 4, torch::kInt64)}}, 0.2,
                        torch::full({3}, 4, torch::kInt64))
                .item<double>(),
            0);
}

TEST(Contrastive, AWeightCountsRowsSoManyTimes) {
  const auto q = ContrastiveRows(3, 8, 1), k = ContrastiveRows(3, 8, 2),
             n = ContrastiveRows(5, 8, 3), other = ContrastiveRows(2, 8, 4);
  const double three = Contrastive(q, k, {{n, {}, 3}, {other}}, 0.2).item<double>();
  EXPECT_NEAR(three, Contrastive(q, k, {{n}, {n}, {n}, {other}}, 0.2).item<double>(), 1e-12);
  EXPECT_NEAR(Contrastive(q, k, {{n, {}, 0}, {other}}, 0.2).item<double>(),
              Contrastive(q, k, {{other}}, 0.2).item<double>(), 1e-15);
}

TEST(Contrastive, TilesAndSeveralBanksGiveTheLossAndGradientOfOneMatrix) {
  for (const double tau : {1e-4, 0.05, 1.0}) {
    for (const int64_t rows : {1, 1023, 1024, 1025, 2500}) {
      const auto k = ContrastiveRows(3, 6, 2);
      const auto samples = torch::arange(3), owners = torch::arange(rows) % 11;
      const std::vector<Negatives> banks = {{ContrastiveRows(rows, 6, 3), owners},
                                            {ContrastiveRows(0, 6, 4)},
                                            {ContrastiveRows(700, 6, 5), {}, 0.3}};
      auto q = ContrastiveRows(3, 6, 1).requires_grad_(), twin = q.detach().clone();
      twin.requires_grad_();
      const auto loss = Contrastive(q, k, banks, tau, samples);
      const auto expected = ContrastiveAtOnce(twin, k, banks, tau, samples);
      EXPECT_NEAR(loss.item<double>(), expected.item<double>(),
                  1e-9 * (1 + expected.item<double>()));
      (3 * loss).backward();
      (3 * expected).backward();
      EXPECT_TRUE(torch::allclose(q.grad(), twin.grad(), 1e-9, 1e-9)) << tau << " " << rows;
    }
  }
}

// A line of /proc/self/status in MB: VmRSS, what is resident, or VmHWM, the most that ever was.
double StatusMegabytes(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}

TEST(Contrastive, AHundredClientsBanksTakeLittleMemoryBesideThemselves) {
  torch::manual_seed(1);
  const auto row = torch::nn::functional::normalize(torch::randn({1, 128}));
  const auto bank = row.repeat({100 * 4096, 1});  // 210 MB; its logits would be as many again
  auto q = torch::nn::functional::normalize(torch::randn({128, 128})).requires_grad_();
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const double before = StatusMegabytes("VmRSS");
  Contrastive(q, q.detach(), {{bank}}, 0.1).backward();
  EXPECT_LT(StatusMegabytes("VmHWM") - before, 64);
  EXPECT_GT(before, 200) << "the bank is there";
}

}  // namespace
}  // namespace kindred
