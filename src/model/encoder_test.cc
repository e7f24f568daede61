#include "model/encoder.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/network.h"
#include "model/resnet.h"
#include "tests/throws.h"

namespace kindred {
namespace {

const EncoderInput kEncoderInput = {{3, 8, 8}, {{0.1f, 0.2f, 0.3f}, {0.4f, 0.5f, 0.6f}}};

NamedTensors EncoderTensors(const std::string& arch, int width, int channels) {
  const ResNet model(ModelOptions{.arch = arch, .width = width}, channels);
  return Clone(OwnTensorsOf(*model));
}

TEST(EncoderOf, ReadsTheArchitectureOffTheTensors) {
  for (const char* arch : {"resnet10", "resnet18"}) {
    for (const int width : {4, 6}) {
      const Encoder encoder = EncoderOf(EncoderTensors(arch, width, 3), kEncoderInput, "x");
      EXPECT_EQ(encoder.model.arch, arch);
      EXPECT_EQ(encoder.model.width, width);
    }
  }
}

TEST(EncoderOf, SaysWhatIsNotAnEncoders) {
  const auto expect = [](NamedTensors tensors, const std::string& part) {
    ExpectError(ExitCode::kData, part,
                [&] { EncoderOf(std::move(tensors), kEncoderInput, "file"); });
  };
  auto tensors = EncoderTensors("resnet10", 4, 3);
  tensors.erase("layer3.0.bn2.bias");
  expect(tensors, "layer3.0.bn2.bias");
  tensors = EncoderTensors("resnet10", 4, 3);
  tensors["layer2.0.conv1.weight"] = torch::zeros({8, 4, 5, 5});
  expect(tensors, "layer2.0.conv1.weight of a resnet10 of width 4 is 8x4x3x3, here 8x4x5x5");
  tensors = EncoderTensors("resnet10", 4, 3);
  tensors["fc.weight"] = torch::zeros({2, 2});
  expect(tensors, "fc.weight");
  tensors = EncoderTensors("resnet10", 4, 3);
  tensors["bn1.weight"][1] = std::nanf("");
  expect(tensors, "not finite");
  tensors = EncoderTensors("resnet10", 4, 3);
  tensors["bn1.running_var"][0] = -1;
  expect(tensors, "bn1.running_var is negative");
  // A small file cannot make the program build a large model.
  expect({{"conv1.weight", torch::zeros({4096, 3, 3, 3})}},
         "layer4.0.conv2.weight is not 32768x32768");
  expect(EncoderTensors("resnet10", 4, 1), "conv1.weight is 4x1x3x3");
  expect({}, "no conv1.weight");
}

TEST(EncoderInput, ComesBackFromItsText) {
  const EncoderInput back = EncoderInput::FromText(kEncoderInput.ToText(), "file");
  EXPECT_EQ(back.ToText(), kEncoderInput.ToText());
  EXPECT_EQ(back.shape.height, 8);
  EXPECT_EQ(back.normalization.std[2], 0.6f);
}

TEST(EncoderInput, RefusesNonsense) {
  for (const std::string text :
       {"", "{}", "[1]", R"({"channels":2,"height":8,"width":8,"mean":[0,0,0],"std":[1,1,1]})",
        R"({"channels":3,"height":0,"width":8,"mean":[0,0,0],"std":[1,1,1]})",
        R"({"channels":3,"height":8,"width":99999999,"mean":[0,0,0],"std":[1,1,1]})",
        R"({"channels":3,"height":8,"width":8,"mean":[0,0,0],"std":[1,0,1]})",
        R"({"channels":3,"height":8,"width":8,"mean":[0,0],"std":"x"})"}) {
    ExpectError(ExitCode::kData, "file", [&] { EncoderInput::FromText(text, "file"); });
  }
}

TEST(CheckFits, NamesWhatToSet) {
  const Encoder encoder = {{}, {}, kEncoderInput};
  CheckFits(encoder, {.count = 1, .channels = 3, .height = 8, .width = 8});
  ExpectError(ExitCode::kData, "data.channels = 3",
              [&] { CheckFits(encoder, {.count = 1, .channels = 1, .height = 8, .width = 8}); });
  ExpectError(ExitCode::kData, "data.size = 8",
              [&] { CheckFits(encoder, {.count = 1, .channels = 3, .height = 28, .width = 28}); });
}

}  // namespace
}  // namespace kindred
