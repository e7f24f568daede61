// Linear evaluation as momentum contrast's authors do it (`moco`, He et al. 2020): a linear layer
// trained on the frozen encoder's features of random crops.
#pragma once

#include <functional>

#include "augment/views.h"
#include "eval/linear_probe.h"
#include "model/encoder.h"

namespace kindred {

struct LinearMocoOptions {
  int epochs = 100;
  double lr = 30;  // x .1 at 60 % and at 80 % of the epochs; SGD, momentum .9, no decay
  int batch = 256;
  double crop = 0.2;  // least area of a random crop; and a mirror image every other time
  uint64_t seed = 0;
  int workers = 1;
  std::function<void(int images)> on_images = {};  // called as images are encoded
};

// Every epoch encodes fresh crops of all training images, on all workers; the result does not
// depend on how many.
LinearProbe TrainLinearMoco(const Encoder& encoder, const Images& images,
                            std::span<const int> labels, int classes,
                            const LinearMocoOptions& options);

}  // namespace kindred
