#include "method/fedca.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "data/dataset.h"
#include "loss/latent_regression.h"
#include "loss/nt_xent.h"
#include "method/one_model.h"
#include "method/public_base.h"
#include "privacy/mechanism_kinds.h"

namespace kindred {
namespace {

class Fedca : public OneNetwork {
 public:
  explicit Fedca(const MethodContext& context)
      : OneNetwork(context),
        context_(context),
        options_(context.method.Of<FedcaOptions>()),
        base_(std::dynamic_pointer_cast<const PublicBase>(context.foundation)) {}

  void BeginRound(const RoundStart& start, NamedTensors& local) override {
    OneNetwork::BeginRound(start, local);
    dictionary_ = CheckedRemote(start, context_.model.dim, context_.features.max_remote,
                                MechanismOf(context_.privacy).unit_rows);
    if (options_.alignment > 0) MeetBase(local);
  }

  // Both views go through the network in one pass of 2B, as in SimCLR; train.batch public images in
  // one of their own.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    const auto z = model_(torch::cat({batch.first, batch.second}));  // [2B, D]
    numbers_.Saw(z);
    auto loss = NtXent(z, dictionary_, options_.tau);
    numbers_.Count("contrast", loss.item<double>());
    if (options_.alignment > 0) loss = loss + options_.alignment * Alignment(batch.key);
    return loss;
  }

  Metrics EndRound(NamedTensors& local) override {
    dictionary_ = at::Tensor();
    return OneNetwork::EndRound(local);
  }

  int FeaturesToShare() const override { return options_.dictionary; }

  at::Tensor FeaturesOf(const at::Tensor& images) override {
    return FeaturesWithoutTrace(model_, images, context_.privacy.statistics == "batch");
  }

 private:
  void MeetBase(NamedTensors& local) {
    Check(base_ != nullptr, "FedCA trains without its base model");
    const auto kept = local.find("public");
    if (kept == local.end()) {
      local["public"] = base_->Features()[0].clone();
    } else if (!torch::equal(kept->second, base_->Features()[0])) {
      throw DataError("fedca.public_data: the images are not those that this run began with");
    }
  }

  // The squared distance of the network's features of public images to the base model's.
  at::Tensor Alignment(const StepKey& key) {
    Rng rng = StepRng(Purpose::kAlignment, key);
    const int64_t all = base_->PublicImages().size(0);
    const auto rows =
        torch::tensor(rng.Sample(all, std::min<int64_t>(context_.batch, all)), torch::kInt64);
    const KeepBuffers keep(*model_);  // running statistics stay those of the client's images
    const auto loss = LatentRegression(model_(base_->PublicImages().index_select(0, rows)),
                                       base_->Features().index_select(0, rows));
    numbers_.Count("alignment", loss.item<double>());
    return loss;
  }

  MethodContext context_;
  FedcaOptions options_;
  std::shared_ptr<const PublicBase> base_;  // null: no alignment, or no training
  at::Tensor dictionary_;                   // [M, D]: others' features, of the round under way
};

}  // namespace

std::unique_ptr<Method> MakeFedca(const MethodContext& context) {
  CheckSquare(context);  // public images are scaled to their side
  return std::make_unique<Fedca>(context);
}

}  // namespace kindred
