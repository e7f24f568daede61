#include "eval/semi_supervised.h"

#include <torch/torch.h>

#include <cmath>

#include "client/batches.h"
#include "eval/features.h"
#include "eval/score.h"
#include "eval/step_decay.h"
#include "model/classifier.h"
#include "model/network.h"

namespace kindred {

SemiOptions SemiOptionsFor(double label_ratio) {
  const double middle = std::sqrt(0.01 * 0.1);
  return label_ratio < middle ? SemiOptions{.trunk_lr = 0.02, .head_lr = 5} : SemiOptions{};
}

TrainedClassifier FinetuneOnLabels(const Encoder& encoder, const Images& images,
                                   std::span<const int> labels, int classes,
                                   const SemiOptions& options) {
  ModelOptions model_options = encoder.model;
  model_options.bn_splits = 1;
  Classifier model(model_options, images.channels, classes);
  Initialize(*model, options.seed);  // of which the head stays
  NamedTensors tensors = TensorsOf(*model);
  CopyInto(encoder.tensors, Under(tensors, "encoder"));
  model->train();
  const auto rate = [](double lr) {
    return std::make_unique<torch::optim::SGDOptions>(torch::optim::SGDOptions(lr).momentum(0.9));
  };
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(model->EncoderParameters(), rate(options.trunk_lr));
  groups.emplace_back(model->HeadParameters(), rate(options.head_lr));
  torch::optim::SGD sgd(groups, torch::optim::SGDOptions(options.trunk_lr).momentum(0.9));
  const ViewRecipe recipe = {CropAndFlip(options.crop), encoder.input.normalization};
  const size_t size = images.ImageSize();
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const auto stream = [&](Purpose purpose, int sample) {
      return Rng({.seed = options.seed,
                  .purpose = purpose,
                  .epoch = static_cast<uint32_t>(epoch),
                  .sample = static_cast<uint64_t>(sample)});
    };
    const double decay = StepDecay(epoch, options.epochs, 0.2);
    const double rates[] = {options.trunk_lr, options.head_lr};
    for (size_t g = 0; g < 2; ++g) {
      static_cast<torch::optim::SGDOptions&>(sgd.param_groups()[g].options()).lr(rates[g] * decay);
    }
    Rng order = stream(Purpose::kEvalOrder, 0);
    for (const auto& samples : EpochBatches(images.count, options.batch, order)) {
      const auto count = static_cast<int64_t>(samples.size());
      auto x = torch::empty({count, images.channels, images.height, images.width});
      std::vector<int64_t> y;
      for (size_t i = 0; i < samples.size(); ++i) {
        Rng rng = stream(Purpose::kEvalViews, samples[i]);
        MakeView(images, samples[i], recipe, rng, std::span(x.data_ptr<float>() + i * size, size));
        y.push_back(labels[static_cast<size_t>(samples[i])]);
      }
      sgd.zero_grad();
      torch::nn::functional::cross_entropy(model(x), torch::tensor(y, torch::kInt64)).backward();
      sgd.step();
      if (options.on_images) options.on_images(static_cast<int>(count));
    }
  }
  tensors = Clone(TensorsOf(*model));
  TrainedClassifier trained = {encoder, {}};
  trained.encoder.tensors = Under(tensors, "encoder");
  trained.head = {.weight = tensors.at("head/weight"), .bias = tensors.at("head/bias")};
  CheckConverged(trained.head);
  return trained;
}

std::vector<int> Classify(const TrainedClassifier& classifier, const Images& images, int workers) {
  torch::NoGradGuard no_gradient;
  return Argmax(
      Logits(classifier.head, EncodeImages(classifier.encoder, images, {.workers = workers})));
}

}  // namespace kindred
