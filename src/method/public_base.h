// FedCA's base model: trained on public images, the same for all clients.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>

#include "data/dataset.h"
#include "method/method.h"

namespace kindred {

struct PublicBase {
  at::Tensor images;    // [M, C, S, S], normalised, without augmentation
  at::Tensor features;  // [M, D] unit rows: what the base model makes of them
};

// fedca.public_images images of fedca.public_data, scaled to the clients'. Throws a data error when
// they cannot be read. Where the clients' data are noise nothing is read.
Dataset LoadPublic(const MethodContext& context);

// Trains a network on those images by SimCLR: from the clients' initial weights, fedca.base_epochs
// epochs, default views, SGD with momentum .9 and decay 5e-4. A function of the context and the
// images: its features are kept in context.folder, and taken from there by a run that goes on.
// Throws Interrupted when `stop` is set. Where the clients' data are noise, so is this: nothing is
// trained.
PublicBase MakePublicBase(const MethodContext& context, const Dataset& data,
                          const std::atomic<bool>* stop = nullptr);

}  // namespace kindred
