#include "export/encoder_file.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <torch/torch.h>

#include "export/model_card.h"
#include "export/npy.h"
#include "export/onnx_model.h"
#include "export/scatter.h"
#include "model/network.h"
#include "model/resnet.h"
#include "model/safetensors.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

Encoder ExportedEncoder(const std::string& arch = "resnet10", int channels = 3) {
  const ModelOptions options = {.arch = arch, .width = 4, .bn_splits = 1};
  ResNet model(options, channels);
  Initialize(*model, 1);
  return {
      Clone(OwnTensorsOf(*model)), options, {{channels, 8, 8}, {{.5f, .4f, .3f}, {.2f, .2f, .3f}}}};
}

TEST(EncoderFile, ComesBackWhole) {
  const auto folder = TestFolder();
  const EncoderFile written = {ExportedEncoder("resnet18"), {{"method", "ccl"}, {"rounds", 3}}};
  WriteFileAtomically(folder.path() / "e.safetensors", SerializeEncoder(written));
  const EncoderFile read = ReadEncoderFile(folder.path() / "e.safetensors");
  EXPECT_EQ(DigestOf(read.encoder.tensors), DigestOf(written.encoder.tensors));
  EXPECT_EQ(read.encoder.model.arch, "resnet18");
  EXPECT_EQ(read.encoder.input.ToText(), written.encoder.input.ToText());
  EXPECT_EQ(read.origin, written.origin);
}

TEST(EncoderFile, RefusesOtherFiles) {
  const auto folder = TestFolder();
  const auto file = folder.path() / "e.safetensors";
  WriteFileAtomically(file, SerializeSafetensors({ExportedEncoder().tensors, {}}));
  ExpectError(ExitCode::kData, "not an encoder that `kindred export`",
              [&] { ReadEncoderFile(file); });
  WriteFileAtomically(file, std::string_view("hello"));
  ExpectError(ExitCode::kData, "safetensors", [&] { ReadEncoderFile(file); });
  EncoderFile foreign = {ExportedEncoder(), {}};
  foreign.encoder.tensors.erase("bn1.bias");
  WriteFileAtomically(file, SerializeEncoder(foreign));
  ExpectError(ExitCode::kData, "bn1.bias", [&] { ReadEncoderFile(file); });
}

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

TEST(Npy, HasNumpysHeaderAndTheValues) {
  const Bytes bytes = SerializeNpy(torch::tensor({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_EQ(text.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  EXPECT_NE(text.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
            std::string::npos);
  const size_t header = 10 + bytes[8] + 256u * bytes[9];
  EXPECT_EQ(header % 64, 0u);
  EXPECT_EQ(bytes[header - 1], '\n');
  ASSERT_EQ(bytes.size(), header + 24);
  float last = 0;
  std::memcpy(&last, bytes.data() + header + 20, 4);
  EXPECT_EQ(last, 6);
}

TEST(Scatter, DrawsBothKinds) {
  torch::manual_seed(1);
  Scatter scatter = {.points = torch::randn({50, 2}, torch::kDouble), .title = "<b>&\n"};
  for (int i = 0; i < 50; ++i) scatter.groups.push_back(i % 40);
  for (int i = 0; i < 40; ++i) scatter.names.push_back(fmt::format("class {}", i));
  const Bytes svg = DrawScatter(scatter, PictureKindOf("a.svg"));
  const std::string text(svg.begin(), svg.end());
  EXPECT_NE(text.find("<svg"), std::string::npos);
  EXPECT_EQ(text.find("<b>"), std::string::npos) << "a name is never markup";
  const Bytes png = DrawScatter(scatter, PictureKindOf("a.png"));
  EXPECT_EQ(DecodeImage(png, 3, "a.png").shape.width, 830);
  scatter.points = torch::zeros({1, 2}, torch::kDouble);  // no extent
  scatter.groups.clear();
  scatter.names.clear();
  EXPECT_GT(DrawScatter(scatter, PictureKind::kPng).size(), 100u);
  ExpectError(ExitCode::kUsage, ".svg or .png", [&] { PictureKindOf("a.gif"); });
}

TEST(ModelCard, SaysWhatItIsAndWhatItIsNot) {
  const Encoder encoder = ExportedEncoder();
  ModelCard card = {.encoder = encoder,
                    .origin = {{"method", "ccl"},
                               {"dataset", "cifar10"},
                               {"round", 20},
                               {"shared_features", {{"features", "encoded"}, {"mix", 4}}}},
                    .license = "CC0",
                    .metrics = {{{"kind", "eval"},
                                 {"metric", "linear"},
                                 {"protocol", "fast"},
                                 {"dataset", "cifar10"},
                                 {"test_images", 2000},
                                 {"accuracy", 0.4125},
                                 {"deviation", 0.01}},
                                {{"kind", "knn"}, {"round", 20}, {"knn", 0.33}}}};
  std::string text = ModelCardText(card);
  for (const char* part :
       {"resnet10 of width 4", "8x8 images", "32 numbers",
        "| linear | fast | cifar10 "
        "| 2000 | 41.25 % +- 1.00 |",
        "33.00 %", "a mix of 4 images", "not encryption", "CC0", "mean [0.5, 0.4, 0.3]"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  card.origin.erase("shared_features");
  EXPECT_EQ(ModelCardText(card).find("InstaHide"), std::string::npos);
  card.origin["method"] = "a\nb";
  EXPECT_EQ(ModelCardText(card).find("a\nb"), std::string::npos);
}

}  // namespace
}  // namespace kindred
