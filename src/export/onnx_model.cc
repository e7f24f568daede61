#include "export/onnx_model.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "model/safetensors.h"

namespace kindred {
namespace {

constexpr int kOpset = 13;
constexpr int kIrVersion = 7;  // the first with that opset; old readers take it

// Builds the graph node by node; each call returns the name of what it computes.
class OnnxGraph {
 public:
  explicit OnnxGraph(const Encoder& encoder) : encoder_(encoder) {
    model_.set_ir_version(kIrVersion);
    model_.set_producer_name("kindred");
    model_.set_producer_version(KINDRED_VERSION);
    model_.add_opset_import()->set_version(kOpset);
    graph_ = model_.mutable_graph();
    graph_->set_name(encoder.model.arch);
  }

  // [batch, sizes...], any batch.
  static void Describe(onnx::ValueInfoProto* value, const std::string& name, int type,
                       std::initializer_list<int64_t> sizes) {
    value->set_name(name);
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape()->add_dim()->set_dim_param("batch");
    for (const int64_t size : sizes) tensor->mutable_shape()->add_dim()->set_dim_value(size);
  }

  onnx::NodeProto* Add(const std::string& op, const std::string& name,
                       std::initializer_list<std::string> inputs) {
    auto* node = graph_->add_node();
    node->set_op_type(op);
    node->set_name(name);
    for (const auto& input : inputs) node->add_input(input);
    node->add_output(name);
    return node;
  }

  static void Set(onnx::NodeProto* node, const std::string& name, std::vector<int64_t> values) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : values) attribute->add_ints(value);
  }

  static void Set(onnx::NodeProto* node, const std::string& name, int64_t value) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }

  static void Set(onnx::NodeProto* node, const std::string& name, float value) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::FLOAT);
    attribute->set_f(value);
  }

  void Constant(const std::string& name, std::initializer_list<int64_t> sizes,
                std::span<const uint8_t> bytes) {
    auto* tensor = graph_->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t size : sizes) tensor->add_dims(size);
    tensor->set_raw_data(bytes.data(), bytes.size());
  }

  // A tensor of the encoder under its own name.
  const std::string& Weight(const std::string& name) {
    const auto& [key, tensor] = *encoder_.tensors.find(name);
    auto* constant = graph_->add_initializer();
    constant->set_name(key);
    constant->set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t size : tensor.sizes()) constant->add_dims(size);
    const auto bytes = BytesIn(tensor);
    constant->set_raw_data(bytes.data(), bytes.size());
    return key;
  }

  std::string Convolution(const std::string& x, const std::string& name, int64_t stride) {
    const at::Tensor& weight = encoder_.tensors.at(name + ".weight");
    const int64_t size = weight.size(2), pad = size / 2;
    auto* node = Add("Conv", name, {x, Weight(name + ".weight")});
    Set(node, "kernel_shape", {size, size});
    Set(node, "strides", {stride, stride});
    Set(node, "pads", {pad, pad, pad, pad});
    return name;
  }

  std::string BatchNorm(const std::string& x, const std::string& name) {
    auto* node = Add("BatchNormalization", name,
                     {x, Weight(name + ".weight"), Weight(name + ".bias"),
                      Weight(name + ".running_mean"), Weight(name + ".running_var")});
    Set(node, "epsilon", 1e-5f);
    return name;
  }

  std::string Relu(const std::string& x, const std::string& name) {
    Add("Relu", name, {x});
    return name;
  }

  // torchvision's basic block.
  std::string Block(const std::string& x, const std::string& name, int64_t stride) {
    auto y = Convolution(x, name + ".conv1", stride);
    y = Relu(BatchNorm(y, name + ".bn1"), name + ".relu1");
    y = BatchNorm(Convolution(y, name + ".conv2", 1), name + ".bn2");
    std::string shortcut = x;
    if (encoder_.tensors.contains(name + ".downsample.0.weight")) {
      shortcut = BatchNorm(Convolution(x, name + ".downsample.0", stride), name + ".downsample.1");
    }
    Add("Add", name + ".add", {y, shortcut});
    return Relu(name + ".add", name + ".relu2");
  }

  // (x / range - mean) / std, a batch norm with fixed statistics: one operation that every runtime
  // knows.
  std::string Normalize(const std::string& x, float range) {
    const auto& [shape, normalization] = encoder_.input;
    const int64_t channels = shape.channels;
    std::vector<float> mean, variance, ones(static_cast<size_t>(channels), 1.0f),
        zeros(static_cast<size_t>(channels), 0.0f);
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      mean.push_back(range * normalization.mean[c]);
      variance.push_back(range * range * normalization.std[c] * normalization.std[c]);
    }
    const auto constant = [&](const std::string& name, const std::vector<float>& values) {
      Constant(name, {channels},
               {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)});
      return name;
    };
    auto* node = Add("BatchNormalization", "normalized",
                     {x, constant("normalize.ones", ones), constant("normalize.zeros", zeros),
                      constant("normalize.mean", mean), constant("normalize.variance", variance)});
    Set(node, "epsilon", 1e-12f);
    return "normalized";
  }

  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto* graph() { return graph_; }

 private:
  const Encoder& encoder_;
  onnx::ModelProto model_;
  onnx::GraphProto* graph_;
};

}  // namespace

Bytes OnnxModel(const Encoder& encoder, OnnxInput input) {
  OnnxGraph g(encoder);
  const bool bytes = input == OnnxInput::kUint8;
  const auto& shape = encoder.input.shape;
  OnnxGraph::Describe(g.graph()->add_input(), "images",
                      bytes ? onnx::TensorProto::UINT8 : onnx::TensorProto::FLOAT,
                      {shape.channels, shape.height, shape.width});
  std::string x = "images";
  if (bytes) {
    OnnxGraph::Set(g.Add("Cast", "floats", {x}), "to", int64_t{onnx::TensorProto::FLOAT});
    x = "floats";
  }
  x = g.Normalize(x, bytes ? 255.0f : 1.0f);
  x = g.Relu(g.BatchNorm(g.Convolution(x, "conv1", 1), "bn1"), "relu");
  for (int stage = 1; stage <= 4; ++stage) {
    for (int block = 0;; ++block) {
      const std::string name = fmt::format("layer{}.{}", stage, block);
      if (!encoder.tensors.contains(name + ".conv1.weight")) break;
      x = g.Block(x, name, stage > 1 && block == 0 ? 2 : 1);
    }
  }
  g.Add("GlobalAveragePool", "pooled", {x});
  OnnxGraph::Set(g.Add("Flatten", "h", {"pooled"}), "axis", int64_t{1});
  OnnxGraph::Describe(g.graph()->add_output(), "h", onnx::TensorProto::FLOAT,
                      {int64_t{8} * encoder.model.width});
  try {
    onnx::checker::check_model(g.model());
  } catch (const std::exception& error) {  // ours to prevent; never seen by a user unless we err
    throw Error(ExitCode::kInternal,
                fmt::format("ONNX's checker refuses the model: {}", Printable(error.what())));
  }
  Bytes result(g.model().ByteSizeLong());
  if (!g.model().SerializeToArray(result.data(), static_cast<int>(result.size()))) {
    throw DataError("the encoder is too large for an ONNX file");
  }
  return result;
}

}  // namespace kindred
