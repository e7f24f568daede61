#include "method/one_network.h"

namespace kindred {

OneNetwork::OneNetwork(const MethodContext& context)
    : network_(context.model, context.channels, ProjectorOptions{.norm = true}) {
  CheckBatchNorm(context);
  Initialize(*network_, context.seed);
  network_->train();
}

}  // namespace kindred
