#include "model/encoder.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/network.h"
#include "model/resnet.h"

namespace kindred {
namespace {

constexpr int64_t kMostWidth = 4096;
constexpr int kMostSide = 1 << 14;

std::string ShapeText(const at::Tensor& tensor) {
  std::string text;
  for (const int64_t size : tensor.sizes())
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

}  // namespace

std::string EncoderInput::ToText() const {
  return nlohmann::json{{"channels", shape.channels},
                        {"height", shape.height},
                        {"width", shape.width},
                        {"mean", normalization.mean},
                        {"std", normalization.std}}
      .dump();
}

EncoderInput EncoderInput::FromText(const std::string& text, const std::string& file) {
  const auto refuse = [&] {
    return DataError("{}: its header does not say what images the encoder takes", Printable(file));
  };
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  EncoderInput input;
  for (const char* key : {"channels", "height", "width"}) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_number_integer()) throw refuse();
  }
  try {
    input.shape = {json.at("channels"), json.at("height"), json.at("width")};
    input.normalization = {json.at("mean"), json.at("std")};
  } catch (const nlohmann::json::exception&) {
    throw refuse();
  }
  const auto& [channels, height, width] = input.shape;
  const auto finite = [](float value) { return std::isfinite(value); };
  const auto positive = [](float value) { return value > 0 && std::isfinite(value); };
  if ((channels != 1 && channels != 3) || height < 1 || width < 1 || height > kMostSide ||
      width > kMostSide || !std::ranges::all_of(input.normalization.mean, finite) ||
      !std::ranges::all_of(input.normalization.std, positive)) {
    throw refuse();
  }
  return input;
}

Encoder EncoderOf(NamedTensors tensors, const EncoderInput& input, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    return DataError("{}: not an encoder of Kindred: {}", Printable(name), Printable(why));
  };
  const auto stem = tensors.find("conv1.weight");
  if (stem == tensors.end()) throw refuse("it has no conv1.weight");
  const at::Tensor& weight = stem->second;  // [width, channels, 3, 3]
  if (weight.dim() != 4 || weight.size(0) < 1 || weight.size(0) > kMostWidth ||
      weight.size(1) != input.shape.channels) {
    throw refuse("conv1.weight is " + ShapeText(weight));
  }
  // The largest tensor first: what claims to be wide must be as large as that.
  const int64_t deep = 8 * weight.size(0);
  const auto last = tensors.find("layer4.0.conv2.weight");
  if (last == tensors.end() || last->second.sizes() != at::IntArrayRef({deep, deep, 3, 3})) {
    throw refuse(fmt::format("layer4.0.conv2.weight is not {0}x{0}x3x3", deep));
  }
  Encoder encoder;
  encoder.model.arch = tensors.contains("layer1.1.conv1.weight") ? "resnet18" : "resnet10";
  encoder.model.width = static_cast<int>(weight.size(0));
  encoder.input = input;
  const ResNet model(encoder.model, input.shape.channels);
  const NamedTensors expected = OwnTensorsOf(*model);
  for (const auto& [key, tensor] : expected) {
    const auto own = tensors.find(key);
    const std::string what =
        fmt::format("a {} of width {}", encoder.model.arch, encoder.model.width);
    if (own == tensors.end()) throw refuse(fmt::format("{} has {}, this has not", what, key));
    if (own->second.sizes() != tensor.sizes() || own->second.dtype() != tensor.dtype()) {
      throw refuse(fmt::format("{} of {} is {}, here {}", key, what, ShapeText(tensor),
                               ShapeText(own->second)));
    }
  }
  for (const auto& [key, tensor] : tensors) {
    if (!expected.contains(key)) throw refuse("no ResNet of ours has " + key);
  }
  if (!AllFinite(tensors)) throw refuse("a value is not finite");
  for (const auto& [key, tensor] : tensors) {
    if ((key.ends_with("running_var") || key.ends_with("num_batches_tracked")) &&
        (tensor < 0).any().item<bool>()) {
      throw refuse(key + " is negative");
    }
  }
  encoder.tensors = std::move(tensors);
  return encoder;
}

EncoderInput InputOf(const Dataset& dataset) {
  const Images& images = dataset.train.images;
  return {{images.channels, images.height, images.width}, dataset.normalization};
}

void CheckFits(const Encoder& encoder, const Images& images) {
  const ImageShape& shape = encoder.input.shape;
  if (images.channels != shape.channels) {
    throw DataError("the encoder takes {} channels, the images have {}; set data.channels = {}",
                    shape.channels, images.channels, shape.channels);
  }
  if (images.height != shape.height || images.width != shape.width) {
    throw DataError("the encoder was trained on {}x{} images, these are {}x{}; {}", shape.height,
                    shape.width, images.height, images.width,
                    shape.height == shape.width ? fmt::format("set data.size = {}", shape.height)
                                                : "scale them beforehand");
  }
}

}  // namespace kindred
