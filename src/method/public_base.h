// FedCA's base model: trained on public images, the same for all clients.
#pragma once

#include <ATen/core/Tensor.h>

#include "method/method.h"

namespace kindred {

struct PublicBase {
  at::Tensor images;    // [M, C, S, S], normalised, without augmentation
  at::Tensor features;  // [M, D] unit rows: what the base model makes of them
};

// Loads fedca.public_images images of fedca.public_data, scaled to the clients', and trains a
// network on them by SimCLR: from the clients' initial weights, fedca.base_epochs epochs, default
// views, SGD with momentum .9 and decay 5e-4. A function of the context. Throws a data error when
// the images cannot be read. Where the clients' data are noise, so is this: nothing is read or
// trained.
PublicBase MakePublicBase(const MethodContext& context);

}  // namespace kindred
