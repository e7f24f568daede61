// Semi-supervised evaluation: the whole model is finetuned on a few labels (paper, Sect. 6; the
// settings are SwAV's, Caron et al. 2020).
#pragma once

#include <functional>

#include "eval/linear_moco.h"
#include "model/encoder.h"

namespace kindred {

struct SemiOptions {
  int epochs = 20;
  double trunk_lr = 0.01;  // of the encoder; x .2 at 60 % and at 80 % of the epochs
  double head_lr = 0.2;    // of the linear layer; falls with the other
  int batch = 256;         // SGD, momentum .9, no decay
  double crop = 0.2;       // least area of a random crop; and a mirror image every other time
  uint64_t seed = 0;
  std::function<void(int images)> on_images = {};  // called after each step
};

// SwAV's rates: .02 and 5 for 1 % of the labels, .01 and .2 for 10 %; other shares take those of
// the nearer one (by ratio).
SemiOptions SemiOptionsFor(double label_ratio);

// An encoder with a linear layer on it, at rest.
struct TrainedClassifier {
  Encoder encoder;
  LinearProbe head;
};

// Trains encoder and head on these labels and no others; the last epoch counts.
TrainedClassifier FinetuneOnLabels(const Encoder& encoder, const Images& images,
                                   std::span<const int> labels, int classes,
                                   const SemiOptions& options);

// The class that it sees in each image.
std::vector<int> Classify(const TrainedClassifier& classifier, const Images& images, int workers);

}  // namespace kindred
