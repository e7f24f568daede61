#include "method/public_base.h"

#include <torch/torch.h>

#include <numbers>

#include "augment/normalize.h"
#include "augment/views.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "loss/nt_xent.h"
#include "method/fedca.h"
#include "model/network.h"
#include "model/safetensors.h"

namespace kindred {
namespace {

std::span<float> ImageIn(at::Tensor& images, int64_t i) {
  const auto size = static_cast<size_t>(images.numel() / images.size(0));
  return std::span(images.data_ptr<float>() + static_cast<size_t>(i) * size, size);
}

at::Tensor EmptyImages(const Images& like, int64_t count) {
  return torch::empty({count, like.channels, like.height, like.width});
}

// Both views of each sample, [2B, C, S, S].
at::Tensor BaseViews(const Dataset& data, std::span<const int> samples, uint64_t seed, int epoch) {
  const Images& images = data.train.images;
  const auto batch = static_cast<int64_t>(samples.size());
  auto views = EmptyImages(images, 2 * batch);
  for (int64_t row = 0; row < 2 * batch; ++row) {
    const int sample = samples[static_cast<size_t>(row % batch)];
    Rng rng({.seed = seed,
             .purpose = Purpose::kBaseViews,
             .epoch = static_cast<uint32_t>(epoch),
             .sample = static_cast<uint64_t>(sample),
             .part = static_cast<uint32_t>(row / batch)});
    MakeView(images, sample, {{}, data.normalization}, rng, ImageIn(views, row));
  }
  return views;
}

void Train(Network& network, const Dataset& data, const MethodContext& context,
           const std::atomic<bool>* stop) {
  const FedcaOptions& options = context.method.Of<FedcaOptions>();
  const int count = data.train.images.count, batch = std::min(context.batch, count);
  torch::optim::SGD sgd(network->parameters(),
                        torch::optim::SGDOptions(options.base_lr).momentum(0.9).weight_decay(5e-4));
  for (int epoch = 0; epoch < options.base_epochs; ++epoch) {
    const double rate =
        0.5 * options.base_lr * (1 + std::cos(std::numbers::pi * epoch / options.base_epochs));
    static_cast<torch::optim::SGDOptions&>(sgd.param_groups()[0].options()).lr(rate);
    Rng rng({.seed = context.seed,
             .purpose = Purpose::kBaseOrder,
             .epoch = static_cast<uint32_t>(epoch)});
    const auto order = rng.Permutation(count);
    for (int at = 0; at + batch <= count; at += batch) {
      const auto samples =
          std::span(order).subspan(static_cast<size_t>(at), static_cast<size_t>(batch));
      if (stop != nullptr && stop->load()) throw Interrupted{};
      sgd.zero_grad();
      const auto z = network(BaseViews(data, samples, context.seed, epoch));
      NtXent(z, torch::empty({0, z.size(1)}), options.tau).backward();
      sgd.step();
    }
  }
}

// What the trained base model makes of the images.
at::Tensor TrainedFeatures(const at::Tensor& images, const Dataset& data,
                           const MethodContext& context, const std::atomic<bool>* stop) {
  Network network(context.model, context.channels);
  Initialize(*network, context.seed);
  spdlog::info("a base model learns from {} public images of {}", images.size(0), data.name);
  network->train();
  Train(network, data, context, stop);
  torch::NoGradGuard no_gradient;
  network->eval();
  std::vector<at::Tensor> features;
  for (const auto& part : images.split(context.batch)) features.push_back(network(part));
  return torch::cat(features);
}

// What the features in a run's folder were made of: a client's folder may see several runs.
std::string MarkOf(const at::Tensor& images, const MethodContext& context) {
  const FedcaOptions& options = context.method.Of<FedcaOptions>();
  const ModelOptions& model = context.model;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", DigestOf({{"images", images}}),
                     context.seed, context.batch, model.arch, model.width, model.dim,
                     model.bn_splits, model.projector_norm, model.engine, options.tau,
                     options.base_epochs, options.base_lr);
}

// Undefined when there are none of these images, or damaged ones.
at::Tensor KeptFeatures(const std::filesystem::path& file, const at::Tensor& images,
                        const MethodContext& context) {
  if (!FileExists(file)) return {};
  try {
    const Safetensors content = ParseSafetensors(ReadFile(file, uint64_t{1} << 36), file.string());
    const auto& [tensors, metadata] = content;
    const auto features = tensors.find("features");
    if (features != tensors.end() &&
        !CheckFeatures(features->second, context.model.dim, images.size(0)) &&
        features->second.size(0) == images.size(0) && metadata.contains("made_of") &&
        metadata.at("made_of") == MarkOf(images, context) && metadata.contains("digest") &&
        metadata.at("digest") == DigestOf(tensors)) {
      return features->second;
    }
  } catch (const Error&) {
  }
  return {};
}

void KeepFeatures(const std::filesystem::path& file, const at::Tensor& images,
                  const at::Tensor& features, const MethodContext& context) {
  const NamedTensors tensors = {{"features", features}};
  try {
    WriteFileAtomically(
        file,
        SerializeSafetensors(
            {tensors, {{"made_of", MarkOf(images, context)}, {"digest", DigestOf(tensors)}}}));
  } catch (const Error& error) {
    spdlog::warn("the base model's features are not kept: {}", error.what());
  }
}

// Throws unless there is a public set that may be one.
void CheckPublicData(const FedcaOptions& options, const std::string& data) {
  if (options.public_data == "folder" && options.public_path.empty()) {
    throw UsageError("fedca.public_path is empty: say where the public images are");
  }
  // Shapes are drawn anew for the public, and there may be several folders.
  if (options.public_data == data && data != "shapes" && data != "folder") {
    throw UsageError(
        "fedca.public_data = {} is what the clients hold; name another dataset, or set "
        "fedca.alignment = 0",
        Printable(options.public_data));
  }
}

}  // namespace

PublicBase::PublicBase(const MethodContext& context, const std::string& data,
                       std::filesystem::path folder)
    : context_(context), noise_(data.empty()), folder_(std::move(folder)) {
  if (noise_) return;
  const FedcaOptions options = context.method.Of<FedcaOptions>();
  CheckPublicData(options, data);
  data_ = LoadDataset({.name = options.public_data,
                       .path = options.public_path,
                       .size = context.side,
                       .channels = context.channels,
                       .limit = options.public_images,
                       .draw = 2});
  data_.test = {};
}

void PublicBase::Make(const std::atomic<bool>* stop) {
  if (features_.defined()) return;
  if (noise_) {
    MakeNoise();
    return;
  }
  const Images& images = data_.train.images;
  auto plain = EmptyImages(images, images.count);
  for (int i = 0; i < images.count; ++i) {
    PlainImage(images, i, data_.normalization, ImageIn(plain, i));
  }
  const auto file = folder_ / "public_base.safetensors";
  const bool kept = !folder_.empty();
  auto features = kept ? KeptFeatures(file, plain, context_) : at::Tensor();
  if (!features.defined()) {
    features = TrainedFeatures(plain, data_, context_, stop);
    if (kept) KeepFeatures(file, plain, features, context_);
  }
  images_ = plain;
  features_ = features;
  data_ = {};
}

// What takes the same time to align with, for benchmarks.
void PublicBase::MakeNoise() {
  const auto noise = [&](at::IntArrayRef sizes) {
    auto values = torch::empty(sizes);
    Rng rng({.seed = context_.seed, .purpose = Purpose::kBaseViews});
    float* at = values.data_ptr<float>();
    for (int64_t i = 0; i < values.numel(); ++i) at[i] = static_cast<float>(rng.Normal());
    return values;
  };
  images_ = noise({context_.batch, context_.channels, context_.side, context_.side});
  features_ = torch::nn::functional::normalize(noise({context_.batch, context_.model.dim}));
}

std::shared_ptr<Foundation> MakePublicBase(const MethodContext& context, const std::string& data,
                                           const std::filesystem::path& folder) {
  if (context.method.Of<FedcaOptions>().alignment == 0) return nullptr;
  return std::make_shared<PublicBase>(context, data, folder);
}

}  // namespace kindred
