// h: what the frozen encoder makes of images, for every evaluation.
#pragma once

#include "data/dataset.h"
#include "model/model_options.h"
#include "model/named_tensors.h"

namespace kindred {

// h = f(x) of each image, unaugmented, as unit rows: [N, feature size]. encoder: the tensors of a
// ResNet of these options, by torchvision's names. Running statistics are used, nothing is trained.
// The result does not depend on the number of workers.
at::Tensor EncodeImages(const NamedTensors& encoder, const ModelOptions& options,
                        const Images& images, const Normalization& normalization, int workers);

}  // namespace kindred
