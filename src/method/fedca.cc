#include "method/fedca.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "data/dataset.h"
#include "loss/latent_regression.h"
#include "loss/nt_xent.h"
#include "method/one_model.h"
#include "method/public_base.h"

namespace kindred {
namespace {

class Fedca : public OneNetwork {
 public:
  explicit Fedca(const MethodContext& context)
      : OneNetwork(context), context_(context), options_(context.method.Of<FedcaOptions>()) {
    if (options_.alignment > 0) {
      public_ = context_.common->Get([&] { return LoadPublic(context_); });
    }
  }

  void BeginRound(const RoundStart& start, NamedTensors& local) override {
    OneNetwork::BeginRound(start, local);
    dictionary_ = CheckedRemote(start, context_.model.dim, context_.features.max_remote);
    if (options_.alignment > 0) MeetBase(start, local);
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

  std::string Note() const override {
    const std::string note = "FedCA reimplemented from its description";
    if (options_.alignment == 0) return note + ", without alignment";
    return fmt::format("{}; base model of at most {} public images of {}, alignment {}", note,
                       options_.public_images, options_.public_data, options_.alignment);
  }

 private:
  void MeetBase(const RoundStart& start, NamedTensors& local) {
    if (!base_) {
      base_ = context_.common->Get([&] { return MakePublicBase(context_, *public_, start.stop); });
    }
    const auto kept = local.find("public");
    if (kept == local.end()) {
      local["public"] = base_->features[0].clone();
    } else if (!torch::equal(kept->second, base_->features[0])) {
      throw DataError("fedca.public_data: the images are not those that this run began with");
    }
  }

  // The squared distance of the network's features of public images to the base model's.
  at::Tensor Alignment(const StepKey& key) {
    Rng rng = StepRng(Purpose::kAlignment, key);
    const int64_t all = base_->images.size(0);
    const auto rows =
        torch::tensor(rng.Sample(all, std::min<int64_t>(context_.batch, all)), torch::kInt64);
    const KeepBuffers keep(*model_);  // running statistics stay those of the client's images
    const auto loss = LatentRegression(model_(base_->images.index_select(0, rows)),
                                       base_->features.index_select(0, rows));
    numbers_.Count("alignment", loss.item<double>());
    return loss;
  }

  MethodContext context_;
  FedcaOptions options_;
  std::shared_ptr<const Dataset> public_;   // what the base model learns from; null: no alignment
  std::shared_ptr<const PublicBase> base_;  // made in the first round, the same for every client
  at::Tensor dictionary_;                   // [M, D]: others' features, of the round under way
};

}  // namespace

std::unique_ptr<Method> MakeFedca(const MethodContext& context) {
  CheckSquare(context);  // public images are scaled to their side
  const FedcaOptions& fedca = context.method.Of<FedcaOptions>();
  if (fedca.alignment > 0 && fedca.public_data == "folder" && fedca.public_path.empty()) {
    throw UsageError("fedca.public_path is empty: say where the public images are");
  }
  // Shapes are drawn anew for the public, and there may be several folders.
  if (fedca.alignment > 0 && fedca.public_data == context.data && context.data != "shapes" &&
      context.data != "folder") {
    throw UsageError(
        "fedca.public_data = {} is what the clients hold; name another dataset, or set "
        "fedca.alignment = 0",
        Printable(fedca.public_data));
  }
  return std::make_unique<Fedca>(context);
}

}  // namespace kindred
