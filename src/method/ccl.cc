#include "method/ccl.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "loss/contrastive.h"
#include "loss/neighborhood.h"
#include "method/local_bank.h"
#include "method/round_numbers.h"
#include "model/momentum.h"
#include "model/network.h"
#include "privacy/mechanism_kinds.h"

namespace kindred {
namespace {

// lambda of a round: rises linearly from 0 over the first `warmup` of the rounds.
double WarmedUp(double lambda, double warmup, int round, int rounds) {
  const double length = warmup * rounds;
  return round < length ? lambda * round / length : lambda;
}

class Ccl : public Method {
 public:
  explicit Ccl(const MethodContext& context)
      : options_(context.method.Of<CclOptions>()),
        features_(context.features),
        unit_rows_(MechanismOf(context.privacy).unit_rows),
        batch_statistics_(context.privacy.statistics == "batch"),
        norms_(context.model.projector_norm),
        dim_(context.model.dim),
        q_(context.model, context.channels),
        k_(context.model, context.channels) {
    Initialize(*q_, context.seed);
    CopyInto(TensorsOf(*q_), TensorsOf(*k_));  // theta_k starts as theta_q
    q_->train();
    k_->train();
  }

  NamedTensors Shared() const override {
    NamedTensors tensors;
    AddUnder(tensors, "q", TensorsOf(*q_));
    AddUnder(tensors, "k", TensorsOf(*k_));
    return tensors;
  }

  std::string EncoderPrefix() const override { return "q/encoder"; }
  bool NormsFeatures() const override { return norms_; }
  bool ShufflesBatches() const override { return true; }
  std::vector<at::Tensor> Trained() const override { return q_->parameters(); }
  NamedTensors NewLocalState() const override { return NewLocalBank(options_.bank, dim_); }

  void BeginRound(const RoundStart& start, NamedTensors&) override {
    remote_ = CheckedRemote(start, dim_, features_.max_remote, unit_rows_);
    remote_center_ = remote_.size(0) > 0 ? remote_.mean(0) : at::Tensor();
    lambda_ = WarmedUp(options_.lambda, options_.warmup, start.round, start.rounds);
    numbers_.Begin();
  }

  // Eq. 12: L = L_contrast + lambda L_neigh; symmetric: the mean over which view is the query.
  at::Tensor Loss(const Batch& batch, NamedTensors& local) override {
    trace_ = {};
    UpdateMomentum(*k_, *q_, options_.momentum);
    samples_ = batch.samples;
    const auto bank = BankKeys(local);
    const auto negatives = NegativesOf(bank, BankSamples(local));
    const auto candidates = lambda_ > 0 ? DrawCandidates(bank, batch.key) : at::Tensor();
    keys_ = Keys(batch.second, batch.key, 0);
    auto loss = LossOf(batch.first, keys_, negatives, candidates);
    if (options_.symmetric) {
      const auto keys = Keys(batch.first, batch.key, 1);
      loss = (loss + LossOf(batch.second, keys, negatives, candidates)) / 2;
    }
    return loss;
  }

  const StepTrace* Trace() const override { return &trace_; }
  void AfterStep(NamedTensors& local) override { Enqueue(local, keys_, samples_); }

  Metrics EndRound(NamedTensors& local) override {
    Metrics metrics = numbers_.End();
    metrics["lambda"] = lambda_;
    AddSpread(metrics, BankKeys(local));
    remote_ = torch::empty({0, dim_});  // it may be large
    remote_center_ = at::Tensor();
    return metrics;
  }

  int FeaturesToShare() const override {
    return options_.negatives != "local" || options_.lambda > 0 ? options_.bank : 0;
  }

  at::Tensor FeaturesOf(const at::Tensor& images) override {
    return FeaturesWithoutTrace(k_, images, batch_statistics_);
  }

 private:
  // k+ of each image: the momentum model's features of its view. It sees them in a random order,
  // undone afterwards, so that split batch norm groups them otherwise than the queries.
  at::Tensor Keys(const at::Tensor& views, const StepKey& key, uint32_t part) {
    torch::NoGradGuard no_gradient;
    Rng rng = StepRng(Purpose::kShuffleKeys, key, part);
    const auto order = rng.Permutation(static_cast<int>(views.size(0)));
    const auto shuffle = torch::tensor(order, torch::kInt64);
    const auto shuffled = k_(views.index_select(0, shuffle));
    auto keys = torch::empty_like(shuffled);
    keys.index_copy_(0, shuffle, shuffled);
    return keys;
  }

  // Feature fusion (Sect. 4.1): which banks q is contrasted with. Without remote features, its own.
  // Beside the local bank all remote rows together weigh features.weight banks.
  std::vector<Negatives> NegativesOf(const at::Tensor& bank, const at::Tensor& bank_samples) {
    trace_.bank_samples = bank_samples;
    trace_.remote = options_.negatives != "local" && remote_.size(0) > 0;
    trace_.local = options_.negatives != "remote" || !trace_.remote;
    std::vector<Negatives> negatives;
    if (trace_.local) negatives.push_back({bank, bank_samples});
    if (trace_.local && trace_.remote) {
      trace_.remote_weight =
          features_.weight * options_.bank / static_cast<double>(remote_.size(0));
    }
    if (trace_.remote) negatives.push_back({remote_, {}, trace_.remote_weight});
    return negatives;
  }

  // The loss of a step whose queries are the main model's features of `views`. candidates:
  // undefined: no matching.
  at::Tensor LossOf(const at::Tensor& views, const at::Tensor& keys,
                    const std::vector<Negatives>& negatives, const at::Tensor& candidates) {
    const auto q = q_(views);
    auto loss =
        Contrastive(q, keys, negatives, options_.tau, torch::tensor(samples_, torch::kInt64));
    numbers_.Count("contrast", loss.item<double>());
    if (remote_center_.defined()) {
      numbers_.Count("remote_cosine", torch::mv(q.detach(), remote_center_).mean().item<double>());
    }
    if (candidates.defined()) loss = loss + lambda_ * Matching(q, candidates);
    return loss;
  }

  // Q': K rows of both banks, drawn anew for the step (Eq. 7); [M, D], the remote ones first.
  at::Tensor DrawCandidates(const at::Tensor& bank, const StepKey& key) {
    const int64_t remote = remote_.size(0), all = remote + bank.size(0);
    Rng rng = StepRng(Purpose::kCandidates, key);
    const auto drawn = rng.Sample(all, std::min<int64_t>(options_.bank, all));
    const auto first_own = std::lower_bound(drawn.begin(), drawn.end(), remote);
    remote_candidates_ = first_own - drawn.begin();
    trace_.candidates = torch::tensor(drawn, torch::kInt64);
    const int64_t own = trace_.candidates.size(0) - remote_candidates_;
    return torch::cat(
        {remote_.index_select(0, trace_.candidates.narrow(0, 0, remote_candidates_)),
         bank.index_select(0, trace_.candidates.narrow(0, remote_candidates_, own) - remote)});
  }

  // Neighborhood matching (Sect. 5).
  at::Tensor Matching(const at::Tensor& q, const at::Tensor& candidates) {
    const Matched matched = Neighborhood(q, candidates, options_.neighbors, options_.tau_nm);
    if (!trace_.neighbors.defined()) trace_.neighbors = matched.neighbors;  // of the first views
    numbers_.Count("neighborhood", matched.loss.item<double>());
    if (matched.neighbors.numel() > 0) {
      numbers_.Count(
          "neighbors_remote",
          (matched.neighbors < remote_candidates_).to(torch::kDouble).mean().item<double>());
    }
    return matched.loss;
  }

  CclOptions options_;
  FeatureOptions features_;
  bool unit_rows_;  // of what others share
  bool batch_statistics_, norms_;
  int64_t dim_;
  Network q_, k_;
  // Of the round under way.
  at::Tensor remote_;         // Q_s: [M, D]
  at::Tensor remote_center_;  // its mean; undefined when there is none
  double lambda_ = 0;
  RoundNumbers numbers_;
  // Of the step under way.
  at::Tensor keys_;
  std::vector<int> samples_;
  int64_t remote_candidates_ = 0;  // how many of the candidates are remote
  StepTrace trace_;
};

}  // namespace

std::unique_ptr<Method> MakeCcl(const MethodContext& context) {
  const CclOptions& ccl = context.method.Of<CclOptions>();
  if (context.model.projector_norm) CheckBatchNorm(context);
  if (ccl.bank < context.batch) {
    throw UsageError(
        "ccl.bank = {} is below train.batch = {}: a batch's own keys would push each other out; "
        "raise ccl.bank or lower train.batch",
        ccl.bank, context.batch);
  }
  if (ccl.lambda > 0 && ccl.neighbors >= ccl.bank) {
    throw UsageError(
        "ccl.neighbors = {} is not below ccl.bank = {}: there would be nothing to tell the "
        "neighbours from; lower ccl.neighbors",
        ccl.neighbors, ccl.bank);
  }
  return std::make_unique<Ccl>(context);
}

std::unique_ptr<Method> MakeMoco(const MethodContext& context) {
  MethodContext moco = context;
  auto& ccl = moco.method.Of<CclOptions>();
  ccl.negatives = "local";
  ccl.lambda = 0;
  return MakeCcl(moco);
}

}  // namespace kindred
