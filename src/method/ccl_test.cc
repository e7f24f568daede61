#include "method/ccl.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "loss/contrastive.h"
#include "loss/neighborhood.h"
#include "tests/throws.h"

namespace kindred {
namespace {

constexpr int kCclBatch = 6;

MethodContext CclContext(const std::string& negatives, double lambda) {
  return {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 2},
          .method = {.name = "ccl",
                     .tables = {CclOptions{.negatives = negatives,
                                           .bank = 12,
                                           .neighbors = 3,
                                           .lambda = lambda,
                                           .warmup = 0.4,
                                           .momentum = 0.9}}},
          .batch = kCclBatch};
}

at::Tensor CclUnitRows(int64_t rows, int seed) {
  torch::manual_seed(seed);
  return torch::nn::functional::normalize(torch::randn({rows, 16}));
}

Batch CclBatch(int step) {
  torch::manual_seed(100 + step);
  Batch batch;
  batch.first = torch::randn({kCclBatch, 3, 8, 8});
  batch.second = torch::randn({kCclBatch, 3, 8, 8});
  batch.key = {.seed = 4, .round = 3, .client = 1, .epoch = 0, .step = static_cast<uint64_t>(step)};
  for (int i = 0; i < kCclBatch; ++i) batch.samples.push_back(10 * step + i);
  return batch;
}

// Takes two steps without SGD and returns the second's loss, trace and metrics.
struct CclSteps {
  CclSteps(const MethodContext& context, const RoundStart& start) : method(MakeCcl(context)) {
    local = method->NewLocalState();
    method->BeginRound(start, local);
    first_loss = method->Loss(CclBatch(0), local).item<double>();
    method->AfterStep(local);
    loss = method->Loss(CclBatch(1), local).item<double>();
    trace = *method->Trace();
    metrics = method->EndRound(local);
  }
  std::unique_ptr<Method> method;
  NamedTensors local;
  double first_loss = 0, loss = 0;
  StepTrace trace;
  Metrics metrics;
};

TEST(Ccl, NegativesAreTheBanksThatAreAskedFor) {
  const RemoteFeatures remote = {CclUnitRows(20, 1), {}};
  for (const auto& [negatives, local, other] : std::vector<std::tuple<std::string, bool, bool>>{
           {"local", true, false}, {"union", true, true}, {"remote", false, true}}) {
    const CclSteps with(CclContext(negatives, 0), {.remote = remote});
    EXPECT_EQ(with.trace.local, local) << negatives;
    EXPECT_EQ(with.trace.remote, other) << negatives;
    // Without remote features yet, they are local.
    const CclSteps without(CclContext(negatives, 0), {});
    EXPECT_TRUE(without.trace.local);
    EXPECT_FALSE(without.trace.remote);
    if (negatives == "local") {
      EXPECT_EQ(with.loss, without.loss);
    }
    if (negatives == "union") {
      EXPECT_GT(with.loss, without.loss) << "more negatives";
    }
  }
}

// Both losses again from what they are functions of. theta_k starts as theta_q and nothing is
// trained here, so the momentum model's features are those of the main model.
TEST(Ccl, LossesAreThoseOfTheBanksAndCandidatesThatTheTraceTells) {
  const RemoteFeatures remote = {CclUnitRows(20, 1), {}};
  for (const char* negatives : {"local", "union", "remote"}) {
    MethodContext context = CclContext(negatives, 2.0);
    context.model.bn_splits = 1;
    context.privacy.statistics = "batch";
    context.features.weight = 0.7;
    const CclSteps steps(context, {.round = 9, .rounds = 10, .remote = remote});
    const auto method = MakeCcl(context);
    const auto q = method->FeaturesOf(CclBatch(1).first),
               k = method->FeaturesOf(CclBatch(1).second);
    const auto bank = method->FeaturesOf(CclBatch(0).second);
    std::vector<Negatives> banks;
    if (std::string(negatives) != "remote") banks.push_back({bank});
    // Beside its own bank of K = 12, all 20 remote rows together count as features.weight banks.
    if (std::string(negatives) == "remote") banks.push_back({remote.rows});
    if (std::string(negatives) == "union") banks.push_back({remote.rows, {}, 0.7 * 12 / 20});
    const auto candidates = torch::cat({remote.rows, bank}).index_select(0, steps.trace.candidates);
    const Matched matched = Neighborhood(q, candidates, 3, 0.05);
    const double expected =
        Contrastive(q, k, banks, 0.1).item<double>() + 2 * matched.loss.item<double>();
    EXPECT_NEAR(steps.loss, expected, 1e-4) << negatives;
    EXPECT_TRUE(torch::equal(steps.trace.neighbors, matched.neighbors)) << negatives;
    EXPECT_EQ(steps.trace.bank_samples[3].item<int64_t>(), 3);
  }
}

TEST(Ccl, LambdaRisesLinearlyOverTheFirstRounds) {
  // Four of ten rounds: 0, 1/4, 1/2, 3/4, 1, 1, ...
  const RemoteFeatures remote = {CclUnitRows(20, 1), {}};
  for (const auto& [round, expected] :
       std::vector<std::pair<int, double>>{{0, 0}, {1, 0.5}, {3, 1.5}, {4, 2}, {9, 2}}) {
    const CclSteps steps(CclContext("union", 2.0),
                         {.round = round, .rounds = 10, .remote = remote});
    EXPECT_NEAR(steps.metrics.at("lambda"), expected, 1e-12);
    EXPECT_EQ(steps.metrics.contains("neighborhood"), expected > 0);
  }
}

TEST(Ccl, TheLossIsContrastPlusLambdaTimesMatching) {
  const RemoteFeatures remote = {CclUnitRows(20, 1), {}};
  const RoundStart start = {.round = 9, .rounds = 10, .remote = remote};
  const CclSteps plain(CclContext("union", 0), start), matched(CclContext("union", 2.0), start);
  const auto& m = matched.metrics;
  EXPECT_GT(m.at("neighborhood"), 0);
  EXPECT_NEAR(plain.metrics.at("contrast"), m.at("contrast"), 1e-6);
  // K = 12 candidates of 20 remote rows and 6 own, three neighbours of each query.
  EXPECT_EQ(matched.trace.candidates.size(0), 12);
  EXPECT_EQ(matched.trace.neighbors.sizes(), (std::vector<int64_t>{kCclBatch, 3}));
  // The first step has no keys of its own yet and the same loss otherwise, so the mean over both
  // steps of (loss - contrast) / lambda is the matching reported.
  EXPECT_NEAR((matched.first_loss - plain.first_loss + matched.loss - plain.loss) / 2,
              2.0 * m.at("neighborhood"), 1e-5);
}

TEST(Ccl, CandidatesAreDrawnAnewForEachStepFromBothBanks) {
  const auto method = MakeCcl(CclContext("union", 1.0));
  NamedTensors local = method->NewLocalState();
  method->BeginRound({.round = 9, .rounds = 10, .remote = {CclUnitRows(20, 1), {}}}, local);
  std::vector<at::Tensor> drawn;
  bool own = false, other = false;
  for (int step = 0; step < 4; ++step) {
    method->Loss(CclBatch(step), local);
    drawn.push_back(method->Trace()->candidates.clone());
    own |= (drawn.back() >= 20).any().item<bool>();
    other |= (drawn.back() < 20).any().item<bool>();
    method->AfterStep(local);
  }
  EXPECT_TRUE(own && other);
  EXPECT_FALSE(torch::equal(drawn[2], drawn[3]));
}

TEST(Ccl, FewerRowsThanKAreAllCandidates) {
  const auto method = MakeCcl(CclContext("union", 1.0));
  NamedTensors local = method->NewLocalState();
  method->BeginRound({.round = 9, .rounds = 10, .remote = {CclUnitRows(5, 1), {}}}, local);
  EXPECT_TRUE(std::isfinite(method->Loss(CclBatch(0), local).item<double>()));
  EXPECT_TRUE(torch::equal(method->Trace()->candidates, torch::arange(5)));
}

TEST(Ccl, FeaturesOfChangesNothing) {
  for (const char* statistics : {"running", "batch"}) {
    MethodContext context = CclContext("union", 0);
    context.privacy.statistics = statistics;
    const CclSteps steps(context, {});
    const std::string before = DigestOf(steps.method->Shared());
    const auto features = steps.method->FeaturesOf(CclBatch(3).first);
    EXPECT_EQ(DigestOf(steps.method->Shared()), before) << statistics;
    EXPECT_FALSE(features.requires_grad());
    EXPECT_NEAR(features[0].norm().item<double>(), 1, 1e-5);
    // The momentum model's features: a batch's statistics see the other images, running ones do
    // not.
    const auto alone = steps.method->FeaturesOf(CclBatch(3).first.narrow(0, 0, 2));
    const bool same = torch::allclose(alone[0], features[0], 1e-4, 1e-5);
    EXPECT_EQ(same, std::string(statistics) == "running");
  }
}

TEST(Ccl, AQuerysOwnEarlierKeysAreNoNegativesOfIt) {
  MethodContext context = CclContext("local", 0);
  context.model.bn_splits = 1;
  context.privacy.statistics = "batch";
  const auto method = MakeCcl(context);
  NamedTensors local = method->NewLocalState();
  method->BeginRound({}, local);
  method->Loss(CclBatch(0), local);
  method->AfterStep(local);
  // The second step sees the first one's images again, but for the last.
  Batch again = CclBatch(1);
  for (int i = 0; i < kCclBatch - 1; ++i) again.samples[static_cast<size_t>(i)] = i;
  const double loss = method->Loss(again, local).item<double>();
  const auto fresh = MakeCcl(context);
  const auto q = fresh->FeaturesOf(again.first), k = fresh->FeaturesOf(again.second);
  const auto bank = fresh->FeaturesOf(CclBatch(0).second);
  double expected = 0;
  for (int i = 0; i < kCclBatch; ++i) {
    std::vector<int64_t> others;
    for (int row = 0; row < kCclBatch; ++row) {
      if (row != i || i == kCclBatch - 1) others.push_back(row);
    }
    const auto rows = bank.index_select(0, torch::tensor(others, torch::kInt64));
    expected += Contrastive(q.narrow(0, i, 1), k.narrow(0, i, 1), {{rows}}, 0.1).item<double>();
  }
  EXPECT_NEAR(loss, expected / kCclBatch, 1e-4);
}

TEST(Ccl, SymmetricIsTheMeanOverWhichViewIsTheQuery) {
  const RemoteFeatures remote = {CclUnitRows(20, 1), {}};
  const auto loss_of = [&](bool symmetric, bool swapped) {
    MethodContext context = CclContext("union", 2.0);
    context.model.bn_splits = 1;  // or the keys' order would tell the two apart
    context.method.Of<CclOptions>().symmetric = symmetric;
    const auto method = MakeCcl(context);
    NamedTensors local = method->NewLocalState();
    method->BeginRound({.round = 9, .rounds = 10, .remote = remote}, local);
    method->Loss(CclBatch(0), local);
    method->AfterStep(local);
    Batch batch = CclBatch(1);
    if (swapped) std::swap(batch.first, batch.second);
    const double loss = method->Loss(batch, local).item<double>();
    method->AfterStep(local);
    EXPECT_EQ(local.at("bank_count").item<int64_t>(), 2 * kCclBatch) << "one key per image";
    return loss;
  };
  EXPECT_NEAR(loss_of(true, false), (loss_of(false, false) + loss_of(false, true)) / 2, 1e-4);
}

TEST(Ccl, RefusesMoreRemoteFeaturesThanItMayBeSent) {
  MethodContext context = CclContext("union", 0);
  context.features.max_remote = 4;
  const auto method = MakeCcl(context);
  NamedTensors local = method->NewLocalState();
  EXPECT_NO_THROW(method->BeginRound({.remote = {CclUnitRows(4, 1), {}}}, local));
  ExpectError(ExitCode::kNetwork, "5 rows, at most 4", [&] {
    method->BeginRound({.remote = {CclUnitRows(5, 1), {}}}, local);
  });
}

TEST(Ccl, SharesWhatOthersUse) {
  EXPECT_EQ(MakeCcl(CclContext("union", 0))->FeaturesToShare(), 12);
  EXPECT_EQ(MakeCcl(CclContext("remote", 1))->FeaturesToShare(), 12);
  EXPECT_EQ(MakeCcl(CclContext("local", 1))->FeaturesToShare(), 12) << "candidates of matching";
  EXPECT_EQ(MakeCcl(CclContext("local", 0))->FeaturesToShare(), 0);
  EXPECT_EQ(MakeMoco(CclContext("union", 1))->FeaturesToShare(), 0);
}

TEST(Ccl, RefusesRemoteFeaturesThatCannotBe) {
  const auto method = MakeCcl(CclContext("union", 1));
  NamedTensors local = method->NewLocalState();
  auto nan = CclUnitRows(4, 1);
  nan[2][3] = NAN;
  const std::vector<std::pair<at::Tensor, std::string>> bad = {
      {nan, "not finite"},
      {CclUnitRows(4, 1).narrow(1, 0, 8), "8 wide, not 16"},
      {2 * CclUnitRows(4, 1), "not of length 1"}};
  for (const auto& [rows, why] : bad) {
    ExpectError(ExitCode::kNetwork, why, [&] {
      method->BeginRound({.remote = {rows, {}}}, local);
    });
  }
}

TEST(Ccl, RefusesAsManyNeighborsAsCandidates) {
  MethodContext context = CclContext("union", 1);
  context.method.Of<CclOptions>().neighbors = 12;
  ExpectError(ExitCode::kUsage, "ccl.neighbors = 12", [&] { MakeCcl(context); });
  context.method.Of<CclOptions>().lambda = 0;
  EXPECT_NO_THROW(MakeCcl(context)) << "not used";
}

}  // namespace
}  // namespace kindred
