// [method] and a table a method: which, and its numbers.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

// [ccl]: momentum contrast, alone (`moco`) or collaborative.
struct CclOptions {
  std::string negatives = "union";  // remote: Q_s alone; union: Q_l and Q_s; local: Q_l alone
  int bank = 1024;                  // K: keys in the local bank, features shared, candidates drawn
  int neighbors = 5;                // N: neighbours a query is matched to
  double tau = 0.1;                 // temperature of the contrastive loss
  double tau_nm = 0.05;             // temperature of neighborhood matching
  double lambda = 0.05;             // weight of neighborhood matching; 0: none
  double warmup = 0.1;              // share of the rounds over which lambda rises from 0
  double encoded = 0;               // weight of training on encodings of the batch; 0: none
  double momentum = 0.99;           // m: how slowly the momentum model follows
};

// [simclr]
struct SimclrOptions {
  double tau = 0.5;  // Chen et al. 2020: their choice for CIFAR-10
};

// [byol]: `fedema` takes it too.
struct ByolOptions {
  double momentum = 0.99;  // of the target network; what Zhuang et al. 2022 give FedBYOL and FedEMA
  int hidden = 512;  // of projector and predictor; 4096 beside a ResNet-50 in Grill et al. 2020
};

// [fedema]
struct FedemaOptions {
  double tau = 0.7;  // the autoscaler's, Zhuang et al. 2022
};

// [swav]. Caron et al. 2020: epsilon, three iterations, tau .1; prototypes are ours.
struct SwavOptions {
  int prototypes = 512;   // P
  double epsilon = 0.05;  // smoothness of the codes
  int iterations = 3;     // of Sinkhorn and Knopp
  double tau = 0.1;       // temperature of the prediction
};

// [deepcluster]. DeepCluster-v2 of Caron et al. 2020: heads, iterations, tau; clusters
// are ours.
struct DeepClusterOptions {
  int clusters = 64;    // K of each head; a client with fewer images has one an image
  int heads = 3;        // clusterings at a time
  int iterations = 10;  // of k-means
  double tau = 0.1;     // temperature of the prediction
};

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

// [method] and a table a method.
struct MethodOptions {
  std::string name = "ccl";
  CclOptions ccl;
  SimclrOptions simclr;
  ByolOptions byol;
  FedemaOptions fedema;
  SwavOptions swav;
  DeepClusterOptions deepcluster;
  FedcaOptions fedca;
};

void Bind(Config& config, MethodOptions& options);

}  // namespace kindred
