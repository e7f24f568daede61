// [fedca] of a configuration.
#pragma once

#include <string>

#include "base/config.h"

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

// What a result must name beside the method.
std::string NoteOf(const FedcaOptions& options);

}  // namespace kindred
