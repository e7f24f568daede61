#include "method/method.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "method/byol.h"
#include "method/ccl.h"
#include "method/deepcluster.h"
#include "method/fedca.h"
#include "method/fedema.h"
#include "method/rotation.h"
#include "method/simclr.h"
#include "method/simsiam.h"
#include "method/supervised.h"
#include "method/swav.h"

namespace kindred {
namespace {

// Binds a method's own table of options.
template <class Options>
void BindTable(Config& config, MethodOptions& options) {
  Bind(config, options.Of<Options>());
}

// The table: help texts, `kindred list` and the tests go through it.
constexpr MethodKind kKinds[] = {
    {"ccl", "Wu et al., IJCAI 2022", "contrast with others' features, and neighborhood matching",
     MakeCcl, BindTable<CclOptions>},
    {"moco", "He et al., CVPR 2020",
     "momentum contrast with one's own keys; with one client: centralized", MakeMoco},
    {"simclr", "Chen et al., ICML 2020", "FedSimCLR: contrast inside the batch", MakeSimclr,
     BindTable<SimclrOptions>},
    {"rotation", "Gidaris et al., ICLR 2018", "FedRot: how was the image turned", MakeRotation},
    {"byol", "Grill et al., NeurIPS 2020", "FedBYOL: predict a slow copy of oneself", MakeByol,
     BindTable<ByolOptions>},
    {"fedema", "Zhuang et al., ICLR 2022", "FedEMA: BYOL; clients keep part of their own model",
     MakeFedema, BindTable<FedemaOptions>},
    {"swav", "Caron et al., NeurIPS 2020", "FedSwAV: predict the other view's prototypes", MakeSwav,
     BindTable<SwavOptions>},
    {"deepcluster", "Caron et al., NeurIPS 2020",
     "FedDC: predict clusters of one's own embeddings (DeepCluster-v2)", MakeDeepCluster,
     BindTable<DeepClusterOptions>},
    {"fedca", "Zhang et al., arXiv 2020",
     "FedCA: SimCLR, others' features as negatives, a public base model (reimplemented)", MakeFedca,
     BindTable<FedcaOptions>},
    {"simsiam", "Chen and He, CVPR 2021", "FedSimSiam: predict one's other view", MakeSimsiam},
    {"supervised", "McMahan et al., AISTATS 2017", "FedAvg with every label, an upper bound",
     MakeSupervised},
};

}  // namespace

void Bind(Config& config, MethodOptions& options) {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  config.Bind("method.name", &options.name, "how clients learn: kindred list methods",
              {.choices = names});
  for (const auto& kind : kKinds) {
    if (kind.bind != nullptr) kind.bind(config, options);
  }
}

Rng StepRng(Purpose purpose, const StepKey& key, uint32_t part) {
  return Rng({.seed = key.seed,
              .purpose = purpose,
              .round = key.round,
              .client = key.client,
              .epoch = key.epoch,
              .sample = key.step,
              .part = part});
}

at::Tensor RemoteFeatures(const RoundStart& start, int64_t dim) {
  const auto rows = start.remote.Size() > 0 ? start.remote.rows : torch::empty({0, dim});
  if (const auto why = WhyNotFeatures(rows, dim, rows.size(0))) {
    throw NetworkError("round {}: the remote features are refused: {}", start.round + 1, *why);
  }
  return rows;
}

void CheckSquare(const MethodContext& context) {
  if (context.side == 0) {
    throw UsageError("method.name = {}: images must be square; set data.size",
                     Printable(context.method.name));
  }
}

void CheckBatchNorm(const MethodContext& context) {
  if (context.batch < 2) {
    throw UsageError(
        "train.batch = {}: batch norm in the projector of method.name = {} needs at least two",
        context.batch, Printable(context.method.name));
  }
}

at::Tensor Method::FeaturesOf(const at::Tensor&) {
  Check(false, "features of a method that shares none");
  return {};
}

std::span<const MethodKind> MethodKinds() { return kKinds; }

std::unique_ptr<Method> MakeMethod(const MethodContext& context) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const MethodKind& each) {
    return each.name == context.method.name;
  });
  if (kind == std::end(kKinds)) {
    throw UsageError("method.name = {}: no such method", Printable(context.method.name));
  }
  return kind->make(context);
}

}  // namespace kindred
