#include "method/moco.h"

#include <torch/torch.h>

#include "base/error.h"
#include "base/rng.h"
#include "loss/contrastive.h"
#include "method/local_bank.h"
#include "model/momentum.h"
#include "model/network.h"

namespace kindred {
namespace {

class Moco : public Method {
 public:
  explicit Moco(const MethodContext& context)
      : options_(context.method.ccl),
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

  at::Tensor Loss(const Batch& batch, NamedTensors& local) override {
    keys_ = Keys(batch);
    const auto q = q_(batch.first);
    return Contrastive(q, keys_, BankKeys(local), options_.tau);
  }

  void AfterStep(NamedTensors& local) override { Enqueue(local, keys_); }

 private:
  // k+ of each image: the momentum model's features of the second views. It sees them in a random
  // order, undone afterwards, so that split batch norm groups them otherwise than the queries.
  at::Tensor Keys(const Batch& batch) {
    torch::NoGradGuard no_gradient;
    UpdateMomentum(*k_, *q_, options_.momentum);
    Rng rng({.seed = batch.key.seed,
             .purpose = Purpose::kShuffleKeys,
             .round = batch.key.round,
             .client = batch.key.client,
             .epoch = batch.key.epoch,
             .sample = batch.key.step});
    const auto order = rng.Permutation(static_cast<int>(batch.second.size(0)));
    const auto shuffle = torch::tensor(order, torch::kInt64);
    const auto shuffled = k_(batch.second.index_select(0, shuffle));
    auto keys = torch::empty_like(shuffled);
    keys.index_copy_(0, shuffle, shuffled);
    return keys;
  }

  CclOptions options_;
  int64_t dim_;
  Network q_, k_;
  at::Tensor keys_;  // of the step under way
};

}  // namespace

std::unique_ptr<Method> MakeMoco(const MethodContext& context) {
  if (context.method.ccl.bank < context.batch) {
    throw UsageError(
        "ccl.bank = {} is below train.batch = {}: a batch's own keys would push each other out; "
        "raise ccl.bank or lower train.batch",
        context.method.ccl.bank, context.batch);
  }
  return std::make_unique<Moco>(context);
}

}  // namespace kindred
