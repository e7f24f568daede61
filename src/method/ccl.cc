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
#include "privacy/instahide.h"

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
        mix_(context.privacy.mix),
        magnitude_(context.privacy.input == "magnitude"),
        batch_statistics_(context.privacy.statistics == "batch"),
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
  std::vector<at::Tensor> Trained() const override { return q_->parameters(); }
  NamedTensors NewLocalState() const override { return NewLocalBank(options_.bank, dim_); }

  void BeginRound(const RoundStart& start, NamedTensors&) override {
    remote_ = RemoteFeatures(start, dim_);
    remote_center_ = remote_.size(0) > 0 ? remote_.mean(0) : at::Tensor();
    lambda_ = WarmedUp(options_.lambda, options_.warmup, start.round, start.rounds);
    numbers_.Begin();
  }

  // Eq. 12: L = L_contrast + lambda L_neigh.
  at::Tensor Loss(const Batch& batch, NamedTensors& local) override {
    trace_ = {};
    keys_ = Keys(batch);
    samples_ = batch.samples;
    const auto q = q_(batch.first);
    const auto bank = BankKeys(local);
    auto loss = Contrastive(q, keys_, Negatives(bank), options_.tau);
    trace_.bank_samples = BankSamples(local);
    numbers_.Count("contrast", loss.item<double>());
    if (remote_center_.defined()) {
      numbers_.Count("remote_cosine", torch::mv(q.detach(), remote_center_).mean().item<double>());
    }
    if (lambda_ > 0) loss = loss + lambda_ * Matching(q, bank, batch.key);
    if (options_.encoded > 0 && bank.size(0) > 0 && batch.first.size(0) >= mix_) {
      loss = loss + options_.encoded * Encoded(batch, bank);
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
  // k+ of each image: the momentum model's features of the second views. It sees them in a random
  // order, undone afterwards, so that split batch norm groups them otherwise than the queries.
  at::Tensor Keys(const Batch& batch) {
    torch::NoGradGuard no_gradient;
    UpdateMomentum(*k_, *q_, options_.momentum);
    Rng rng = StepRng(Purpose::kShuffleKeys, batch.key);
    const auto order = rng.Permutation(static_cast<int>(batch.second.size(0)));
    const auto shuffle = torch::tensor(order, torch::kInt64);
    const auto shuffled = k_(batch.second.index_select(0, shuffle));
    auto keys = torch::empty_like(shuffled);
    keys.index_copy_(0, shuffle, shuffled);
    return keys;
  }

  // Feature fusion (Sect. 4.1): which banks q is contrasted with. Without remote features, its own.
  std::vector<at::Tensor> Negatives(const at::Tensor& bank) {
    trace_.remote = options_.negatives != "local" && remote_.size(0) > 0;
    trace_.local = options_.negatives != "remote" || !trace_.remote;
    std::vector<at::Tensor> negatives;
    if (trace_.local) negatives.push_back(bank);
    if (trace_.remote) negatives.push_back(remote_);
    return negatives;
  }

  // Neighborhood matching (Sect. 5) with K candidates of both banks, drawn anew (Eq. 7).
  at::Tensor Matching(const at::Tensor& q, const at::Tensor& bank, const StepKey& key) {
    const int64_t remote = remote_.size(0), all = remote + bank.size(0);
    Rng rng = StepRng(Purpose::kCandidates, key);
    const auto drawn = rng.Sample(all, std::min<int64_t>(options_.bank, all));
    const auto first_own = std::lower_bound(drawn.begin(), drawn.end(), remote);
    const int64_t from_remote = first_own - drawn.begin();
    trace_.candidates = torch::tensor(drawn, torch::kInt64);
    const int64_t from_own = trace_.candidates.size(0) - from_remote;
    const auto candidates = torch::cat(
        {remote_.index_select(0, trace_.candidates.narrow(0, 0, from_remote)),
         bank.index_select(0, trace_.candidates.narrow(0, from_remote, from_own) - remote)});
    const Matched matched = Neighborhood(q, candidates, options_.neighbors, options_.tau_nm);
    trace_.neighbors = matched.neighbors;
    numbers_.Count("neighborhood", matched.loss.item<double>());
    if (matched.neighbors.numel() > 0) {
      numbers_.Count("neighbors_remote",
                     (matched.neighbors < from_remote).to(torch::kDouble).mean().item<double>());
    }
    return matched.loss;
  }

  // Beyond the paper: encodings, half as many as the batch has images, are contrasted with the
  // client's own clean keys, so that features of encodings come to lie among those of images. The
  // key of an encoding is the mean of its images' keys by their weights.
  at::Tensor Encoded(const Batch& batch, const at::Tensor& bank) {
    const int64_t size = batch.first.size(0), half = (size + 1) / 2;
    Rng rng = StepRng(Purpose::kMixViews, batch.key);
    std::vector<double> weights;
    for (int64_t i = 0; i < half; ++i) {
      const auto drawn = DrawWeights(mix_, rng);
      weights.insert(weights.end(), drawn.begin(), drawn.end());
    }
    const auto weight = torch::tensor(weights, torch::kFloat).view({half, mix_});
    auto encodings = torch::zeros_like(batch.first.narrow(0, 0, half));
    auto keys = torch::zeros({half, dim_});
    const auto order = torch::tensor(rng.Permutation(static_cast<int>(size)), torch::kInt64);
    for (int i = 0; i < mix_; ++i) {  // shifts of one order: the images of a mix are different
      const auto rows = order.roll(i).narrow(0, 0, half);
      const auto part = weight.select(1, i);
      encodings += part.view({half, 1, 1, 1}) * batch.first.index_select(0, rows);
      keys += part.view({half, 1}) * keys_.index_select(0, rows);
    }
    if (magnitude_) {
      encodings.abs_();
    } else {
      float* values = encodings.data_ptr<float>();
      uint64_t bits = 0;
      for (int64_t v = 0; v < encodings.numel(); ++v, bits >>= 1) {
        if (v % 64 == 0) bits = rng();
        if (bits & 1) values[v] = -values[v];
      }
    }
    const KeepBuffers keep(*q_);  // running statistics stay those of images
    const auto q = q_(encodings);
    const auto loss = Contrastive(q, torch::nn::functional::normalize(keys), {bank}, options_.tau);
    numbers_.Count("encoded", loss.item<double>());
    return loss;
  }

  CclOptions options_;
  int mix_;
  bool magnitude_;
  bool batch_statistics_;
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
  StepTrace trace_;
};

}  // namespace

std::unique_ptr<Method> MakeCcl(const MethodContext& context) {
  const CclOptions& ccl = context.method.Of<CclOptions>();
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
  ccl.encoded = 0;
  return MakeCcl(moco);
}

}  // namespace kindred
