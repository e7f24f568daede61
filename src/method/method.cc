#include "method/method.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "data/dataset.h"
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

// The table: help texts, `kindred list` and the tests go through it.
constexpr MethodKind kKinds[] = {
    {"ccl", "Wu et al., IJCAI 2022", "contrast with others' features, and neighborhood matching",
     MakeCcl},
    {"moco", "He et al., CVPR 2020",
     "momentum contrast with one's own keys; with one client: centralized", MakeMoco},
    {"simclr", "Chen et al., ICML 2020", "FedSimCLR: contrast inside the batch", MakeSimclr},
    {"rotation", "Gidaris et al., ICLR 2018", "FedRot: how was the image turned", MakeRotation},
    {"byol", "Grill et al., NeurIPS 2020", "FedBYOL: predict a slow copy of oneself", MakeByol},
    {"fedema", "Zhuang et al., ICLR 2022", "FedEMA: BYOL; clients keep part of their own model",
     MakeFedema},
    {"swav", "Caron et al., NeurIPS 2020", "FedSwAV: predict the other view's prototypes",
     MakeSwav},
    {"deepcluster", "Caron et al., NeurIPS 2020",
     "FedDC: predict clusters of one's own embeddings (DeepCluster-v2)", MakeDeepCluster},
    {"fedca", "Zhang et al., arXiv 2020",
     "FedCA: SimCLR, others' features as negatives, a public base model (reimplemented)",
     MakeFedca},
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
  config.Bind("ccl.negatives", &options.ccl.negatives,
              "what is contrasted with: others' features, one's own bank, or both",
              {.choices = {"remote", "union", "local"}});
  config.Bind("ccl.bank", &options.ccl.bank, "K: keys in the local bank, and features shared",
              {.least = 1, .most = 1 << 20});
  config.Bind("ccl.neighbors", &options.ccl.neighbors, "N: neighbours a query is matched to",
              {.least = 1, .most = 1 << 20});
  config.Bind("ccl.tau", &options.ccl.tau, "temperature of the contrastive loss",
              {.least = 1e-3, .most = 100});
  config.Bind("ccl.tau_nm", &options.ccl.tau_nm, "temperature of neighborhood matching",
              {.least = 1e-3, .most = 100});
  config.Bind("ccl.lambda", &options.ccl.lambda, "weight of neighborhood matching; 0: none",
              {.least = 0, .most = 1000});
  config.Bind("ccl.warmup", &options.ccl.warmup,
              "share of the rounds over which lambda rises from 0", {.least = 0, .most = 1});
  config.Bind("ccl.encoded", &options.ccl.encoded,
              "weight of training on encodings of the batch's images; 0: none",
              {.least = 0, .most = 1000});
  config.Bind("ccl.momentum", &options.ccl.momentum, "m: how slowly the momentum model follows",
              {.least = 0, .most = 1});
  config.Bind("simclr.tau", &options.simclr.tau, "temperature of the contrastive loss",
              {.least = 1e-3, .most = 100});
  config.Bind("byol.momentum", &options.byol.momentum, "how slowly the target network follows",
              {.least = 0, .most = 1});
  config.Bind("byol.hidden", &options.byol.hidden, "width of projector and predictor inside",
              {.least = 1, .most = 65536});
  config.Bind("fedema.tau", &options.fedema.tau,
              "share of its own model that a client keeps at its first merge",
              {.least = 0, .most = 1});
  config.Bind("swav.prototypes", &options.swav.prototypes, "P: what views are assigned to",
              {.least = 2, .most = 1 << 20});
  config.Bind("swav.epsilon", &options.swav.epsilon, "smoothness of the codes",
              {.least = 1e-3, .most = 100});
  config.Bind("swav.iterations", &options.swav.iterations, "of Sinkhorn and Knopp's algorithm",
              {.least = 1, .most = 1000});
  config.Bind("swav.tau", &options.swav.tau, "temperature of the prediction",
              {.least = 1e-3, .most = 100});
  config.Bind("deepcluster.clusters", &options.deepcluster.clusters,
              "K: clusters of each head, at most as many as images", {.least = 2, .most = 1 << 20});
  config.Bind("deepcluster.heads", &options.deepcluster.heads, "clusterings at a time",
              {.least = 1, .most = 64});
  config.Bind("deepcluster.iterations", &options.deepcluster.iterations, "of k-means",
              {.least = 1, .most = 1000});
  config.Bind("deepcluster.tau", &options.deepcluster.tau, "temperature of the prediction",
              {.least = 1e-3, .most = 100});
  std::vector<std::string> datasets;
  for (const auto& kind : DatasetKinds()) datasets.emplace_back(kind.name);
  config.Bind("fedca.tau", &options.fedca.tau, "temperature of the contrastive loss",
              {.least = 1e-3, .most = 100});
  config.Bind("fedca.dictionary", &options.fedca.dictionary, "features that a client shares",
              {.least = 1, .most = 1 << 20});
  config.Bind("fedca.alignment", &options.fedca.alignment,
              "weight of alignment to the base model; 0: none", {.least = 0, .most = 1000});
  config.Bind("fedca.public_data", &options.fedca.public_data,
              "what the base model learns from: kindred list datasets", {.choices = datasets});
  config.Bind("fedca.public_path", &options.fedca.public_path,
              "where that is; empty: where kindred data get puts it");
  config.Bind("fedca.public_images", &options.fedca.public_images, "how many of its images",
              {.least = 2, .most = 1 << 24});
  config.Bind("fedca.base_epochs", &options.fedca.base_epochs, "the base model's epochs on them",
              {.least = 1, .most = 1e4});
  config.Bind("fedca.base_lr", &options.fedca.base_lr, "its learning rate, cosine to 0",
              {.least = 0, .most = 10});
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
