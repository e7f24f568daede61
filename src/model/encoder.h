// A trained encoder f at rest: its tensors, and what it takes to use them.
#pragma once

#include <string>

#include "data/dataset.h"
#include "model/model_options.h"
#include "model/named_tensors.h"

namespace kindred {

// What an encoder takes: images of this shape, normalised like this.
struct EncoderInput {
  ImageShape shape;
  Normalization normalization;

  // For a file's header. FromText throws a data error that names `file`.
  std::string ToText() const;
  static EncoderInput FromText(const std::string& text, const std::string& file);
};

struct Encoder {
  NamedTensors tensors;  // of a ResNet, by torchvision's names
  ModelOptions model;    // arch and width count
  EncoderInput input;
};

// Architecture, width and channels are read off the tensors. Throws a data error that says what
// differs when they are not those of a ResNet-10 or -18 for small images, or take other channels
// than `input` says. `name` is for messages.
Encoder EncoderOf(NamedTensors tensors, const EncoderInput& input, const std::string& name);

// What an encoder trained on the dataset takes.
EncoderInput InputOf(const Dataset& dataset);

// Throws a data error unless images have the size and channels that the encoder was trained on.
void CheckFits(const Encoder& encoder, const Images& images);

}  // namespace kindred
