#include "export/onnx_model.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <torch/torch.h>

#include "tests/random_encoder.h"

namespace kindred {
namespace {

TEST(OnnxModel, HoldsEveryWeightOnceAndTakesAnyBatch) {
  for (const char* arch : {"resnet10", "resnet18"}) {
    for (const auto input : {OnnxInput::kFloat, OnnxInput::kUint8}) {
      const Encoder encoder = ExportedEncoder(arch, 1);
      const Bytes bytes = OnnxModel(encoder, input);
      onnx::ModelProto model;
      ASSERT_TRUE(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
      std::set<std::string> constants;
      for (const auto& each : model.graph().initializer()) {
        EXPECT_TRUE(constants.insert(each.name()).second) << each.name();
      }
      for (const auto& [name, tensor] : encoder.tensors) {
        EXPECT_EQ(constants.contains(name), !name.ends_with("num_batches_tracked")) << name;
      }
      const auto& type = model.graph().input(0).type().tensor_type();
      EXPECT_EQ(type.elem_type() == onnx::TensorProto::UINT8, input == OnnxInput::kUint8);
      EXPECT_EQ(type.shape().dim(0).dim_param(), "batch");
      EXPECT_EQ(type.shape().dim(1).dim_value(), 1);
      EXPECT_EQ(model.graph().output(0).type().tensor_type().shape().dim(1).dim_value(), 32);
    }
  }
}

}  // namespace
}  // namespace kindred
