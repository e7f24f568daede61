#include "model/model_options.h"

namespace kindred {

void Bind(Config& config, ModelOptions& options) {
  config.BindForClients("model.arch", &options.arch, "network of the encoder",
                        {.choices = {"resnet18", "resnet10"}});
  config.BindForClients("model.width", &options.width, "channels of the encoder's first stage",
                        {.least = 1, .most = 512, .client_limit = "client.max_width"});
  config.BindForClients("model.dim", &options.dim, "length of a projected feature",
                        {.least = 2, .most = 4096, .client_limit = "client.max_dim"});
  config.BindForClients("model.bn_splits", &options.bn_splits,
                        "groups that batch norm splits a training batch into",
                        {.least = 1, .most = 64});
  config.BindForClients("model.projector_norm", &options.projector_norm,
                        "batch norm after the projector's hidden layer, for every method");
}

void BindEngine(Config& config, ModelOptions& options) {
  config.BindForClients("train.engine", &options.engine,
                        "what computes the encoder: own kernels (fast) or LibTorch (torch)",
                        {.choices = {"fast", "torch"}});
}

}  // namespace kindred
