#include "eval/linear_moco.h"

#include <torch/torch.h>

#include "base/error.h"
#include "client/batches.h"
#include "eval/features.h"
#include "eval/step_decay.h"

namespace kindred {

LinearProbe TrainLinearMoco(const Encoder& encoder, const Images& images,
                            std::span<const int> labels, int classes,
                            const LinearMocoOptions& options) {
  const ViewRecipe recipe = {CropAndFlip(options.crop), encoder.input.normalization};
  const auto classes_of =
      torch::tensor(std::vector<int64_t>(labels.begin(), labels.end()), torch::kInt64);
  LinearProbe probe{.lr = options.lr};
  std::unique_ptr<torch::optim::SGD> sgd;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const auto stream = [&](Purpose purpose, int sample) {
      return Rng({.seed = options.seed,
                  .purpose = purpose,
                  .epoch = static_cast<uint32_t>(epoch),
                  .sample = static_cast<uint64_t>(sample)});
    };
    const auto h = EncodeImages(encoder, images,
                                {.workers = options.workers,
                                 .pixels =
                                     [&](int i, std::span<float> out) {
                                       Rng rng = stream(Purpose::kEvalViews, i);
                                       MakeView(images, i, recipe, rng, out);
                                     },
                                 .on_images = options.on_images});
    if (epoch == 0) {
      Rng rng({.seed = options.seed, .purpose = Purpose::kInit});
      probe.weight = torch::empty({classes, h.size(1)});
      float* weight = probe.weight.data_ptr<float>();
      for (int64_t i = 0; i < probe.weight.numel(); ++i) {
        weight[i] = static_cast<float>(0.01 * rng.Normal());
      }
      probe.bias = torch::zeros({classes});
      for (auto* tensor : {&probe.weight, &probe.bias}) tensor->requires_grad_();
      sgd = std::make_unique<torch::optim::SGD>(std::vector<at::Tensor>{probe.weight, probe.bias},
                                                torch::optim::SGDOptions(options.lr).momentum(0.9));
    }
    const double decay = StepDecay(epoch, options.epochs, 0.1);
    static_cast<torch::optim::SGDOptions&>(sgd->param_groups()[0].options()).lr(options.lr * decay);
    Rng order = stream(Purpose::kEvalOrder, 0);
    for (const auto& samples : EpochBatches(images.count, options.batch, order)) {
      const auto rows = torch::tensor(std::vector<int64_t>(samples.begin(), samples.end()));
      sgd->zero_grad();
      torch::nn::functional::cross_entropy(Logits(probe, h.index_select(0, rows)),
                                           classes_of.index_select(0, rows))
          .backward();
      sgd->step();
    }
  }
  for (auto* tensor : {&probe.weight, &probe.bias}) *tensor = tensor->detach();
  CheckConverged(probe);
  return probe;
}

}  // namespace kindred
