#include "model/model_options.h"

namespace kindred {

void Bind(Config& config, ModelOptions& options) {
  config.Bind("model.arch", &options.arch, "encoder", {.choices = {"resnet18", "resnet10"}});
  config.Bind("model.width", &options.width, "channels of its first stage",
              {.least = 1, .most = 512});
  config.Bind("model.dim", &options.dim, "size of a projected feature", {.least = 2, .most = 4096});
  config.Bind("model.bn_splits", &options.bn_splits,
              "groups in which batch norm sees a training batch", {.least = 1, .most = 64});
  config.Bind("model.projector_norm", &options.projector_norm,
              "batch norm after the projector's hidden layer, whichever the method");
}

void BindEngine(Config& config, ModelOptions& options) {
  config.Bind("train.engine", &options.engine,
              "what computes the encoder: fast (own kernels) or torch (LibTorch)",
              {.choices = {"fast", "torch"}});
}

}  // namespace kindred
