// FedCA (Zhang et al. 2020), reimplemented from its description: SimCLR with a dictionary of other
// clients' features as further negatives, and alignment to a base model trained on public images.
#pragma once

#include <memory>
#include <string>

#include "method/method.h"

namespace kindred {

// [fedca]. Zhang et al. 2020: the weight; the rest is ours.
struct FedcaOptions {
  double tau = 0.5;                    // temperature of the contrastive loss
  int dictionary = 32;                 // features a client shares
  double alignment = 0.01;             // weight of alignment to the base model; 0: none
  std::string public_data = "shapes";  // the public set, a name of `kindred list datasets`
  std::string public_path;             // where it is; empty: where `kindred data get` puts it
  int public_images = 1000;            // of its training images
  int base_epochs = 20;                // of the base model's training on them
  double base_lr = 0.06;               // cosine to 0
};

void Bind(Config& config, FedcaOptions& options);

// Shared: "encoder/..." and "projector/...". Kept: "public", by which a resumed run knows
// that its public images are still the same. Travels as well: the dictionary, at
// most fedca.dictionary features a client.
std::unique_ptr<Method> MakeFedca(const MethodContext& context);

}  // namespace kindred
