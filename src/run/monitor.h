// The kNN monitor of a run: what its encoder is worth now.
#pragma once

#include "data/dataset.h"
#include "eval/eval_options.h"
#include "model/encoder.h"

namespace kindred {

struct KnnResult {
  double accuracy = 0;
  at::Tensor features;  // of the training images, unit rows
};

// Accuracy on the test images by the votes of the training images. The dataset must have both, with
// labels.
KnnResult KnnAccuracyOf(const Encoder& encoder, const Dataset& dataset, const EvalOptions& options,
                        int workers);

// Cuts the test images to options.limit, if there are more.
void LimitTestImages(Dataset& dataset, const EvalOptions& options);

}  // namespace kindred
