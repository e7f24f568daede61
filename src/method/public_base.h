// FedCA's base model: trained on public images, the same for all clients.
#pragma once

#include <ATen/core/Tensor.h>

#include "method/method.h"

namespace kindred {

struct PublicBase {
  at::Tensor images;    // [M, C, S, S], normalised, without augmentation
  at::Tensor features;  // [M, D] unit rows: what the base model makes of them
};

// Loads fedca.public_images images of fedca.public_data, scaled to `side`, and trains a network on
// them by SimCLR: from the clients' initial weights, fedca.base_epochs epochs, default views. A
// function of the context. With a context.cache the trained network is kept there and found again.
// Throws a data error when the images cannot be read.
PublicBase MakePublicBase(const MethodContext& context, int side);

}  // namespace kindred
