// h: what the frozen encoder makes of images, for every evaluation.
#pragma once

#include <functional>
#include <span>

#include "model/encoder.h"

namespace kindred {

struct EncodeOptions {
  int workers = 1;
  // What the model sees of image i, normalised; empty: the image as it is. Called from several
  // threads.
  std::function<void(int i, std::span<float> out)> pixels = {};
  std::function<void(int images)> on_images = {};  // called as they are done, never twice at a time
};

// h = f(x) of each image: [N, feature size]. Running statistics are used, nothing is trained. The
// result does not depend on the number of workers. Throws a data error when it is not finite.
at::Tensor EncodeImages(const Encoder& encoder, const Images& images,
                        const EncodeOptions& options = {});

// The rows scaled to length 1.
at::Tensor UnitRows(const at::Tensor& h);

}  // namespace kindred
