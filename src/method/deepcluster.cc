#include "method/deepcluster.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "loss/cluster_prediction.h"
#include "loss/spherical_kmeans.h"
#include "method/one_model.h"

namespace kindred {
namespace {

class DeepCluster : public OneNetwork {
 public:
  explicit DeepCluster(const MethodContext& context)
      : OneNetwork(context),
        options_(context.method.Of<DeepClusterOptions>()),
        dim_(context.model.dim) {}

  void BeginEpoch(const EpochStart& start, NamedTensors& local) override {
    if (start.key.epoch == 0) Fill(start, local);
    Cluster(start, local.at("memory"));
  }

  // Cross-entropy of each head's clusters, mean over views and heads. Both views go through the
  // network in one pass of 2B.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    Check(!heads_.empty(), "a step before its epoch");
    const auto z = model_(torch::cat({batch.first, batch.second}));  // [2B, D]
    samples_ = torch::tensor(batch.samples, torch::kInt64);
    embeddings_ = z.detach();
    auto loss = torch::zeros({});
    for (const auto& head : heads_) {
      const auto nearest = head.nearest.index_select(0, samples_).repeat({2});
      loss = loss + ClusterPrediction(z, head.centroids, nearest, options_.tau);
    }
    loss = loss / options_.heads;
    numbers_.Saw(z);
    const auto clusters = static_cast<double>(heads_[0].centroids.size(0));
    if (clusters > 1) numbers_.Count("loss_over_chance", loss.item<double>() / std::log(clusters));
    return loss;
  }

  void AfterStep(NamedTensors& local) override {
    Remember(local.at("memory"), samples_, embeddings_);
  }

  Metrics EndRound(NamedTensors& local) override {
    local.erase("memory");  // the next round begins with another model
    heads_.clear();
    samples_ = embeddings_ = at::Tensor();
    return OneNetwork::EndRound(local);
  }

 private:
  static void Remember(at::Tensor& memory, const at::Tensor& samples, const at::Tensor& z) {
    torch::NoGradGuard no_gradient;
    const auto views = z.chunk(2);
    for (int64_t view = 0; view < 2; ++view) {
      memory[view].index_copy_(0, samples, views[static_cast<size_t>(view)]);
    }
  }

  // Embeddings by the model that the round begins with: a pass as in training that leaves the
  // running statistics alone.
  void Fill(const EpochStart& start, NamedTensors& local) {
    torch::NoGradGuard no_gradient;
    const KeepBuffers keep(*model_);
    auto memory = torch::zeros({2, start.images, dim_});
    start.each_batch([&](const Batch& batch) {
      Remember(memory, torch::tensor(batch.samples, torch::kInt64),
               model_(torch::cat({batch.first, batch.second})));
    });
    local["memory"] = memory;
  }

  // Each head clusters one view's embeddings, first and second by turns, from rows drawn anew.
  void Cluster(const EpochStart& start, const at::Tensor& memory) {
    heads_.clear();
    const int64_t images = memory.size(1), clusters = std::min<int64_t>(options_.clusters, images);
    for (int head = 0; head < options_.heads; ++head) {
      const auto rows = memory[head % 2];
      Rng rng = StepRng(Purpose::kCentroids, start.key, static_cast<uint32_t>(head));
      const auto drawn = torch::tensor(rng.Sample(images, clusters), torch::kInt64);
      heads_.push_back(SphericalKMeans(rows, rows.index_select(0, drawn), options_.iterations));
      numbers_.Count("empty_clusters", heads_.back().empty);
    }
  }

  DeepClusterOptions options_;
  int64_t dim_;
  std::vector<SphericalClusters> heads_;  // of the epoch under way
  at::Tensor samples_, embeddings_;       // of the step under way
};

}  // namespace

std::unique_ptr<Method> MakeDeepCluster(const MethodContext& context) {
  return std::make_unique<DeepCluster>(context);
}

}  // namespace kindred
