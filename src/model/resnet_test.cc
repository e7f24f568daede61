#include "model/resnet.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "model/network.h"

namespace kindred {
namespace {

int64_t CountResNetParameters(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const auto& parameter : module.parameters()) count += parameter.numel();
  return count;
}

TEST(ResNet, FeaturesAreEightTimesTheWidth) {
  torch::NoGradGuard no_gradient;
  for (const char* arch : {"resnet18", "resnet10"}) {
    for (const int width : {1, 4, 16}) {
      for (const int channels : {1, 3}) {
        ResNet encoder(ModelOptions{.arch = arch, .width = width}, channels);
        EXPECT_EQ(encoder->FeatureSize(), 8 * width);
        const auto h = encoder(torch::randn({4, channels, 16, 16}));
        EXPECT_EQ(h.sizes(), (std::vector<int64_t>{4, 8 * width})) << arch << " " << width;
        EXPECT_EQ(encoder(torch::randn({2, channels, 28, 20})).size(1), 8 * width);
      }
    }
  }
}

TEST(ResNet, EighteenHasAllTensorsOfTorchvision) {
  const ResNet encoder(ModelOptions{.arch = "resnet18", .width = 4}, 3);
  const auto tensors = OwnTensorsOf(*encoder);
  std::vector<std::string> expected;
  const auto norm = [&](const std::string& name) {
    for (const char* part :
         {"weight", "bias", "running_mean", "running_var", "num_batches_tracked"})
      expected.push_back(name + "." + part);
  };
  expected.push_back("conv1.weight");
  norm("bn1");
  for (int stage = 1; stage <= 4; ++stage) {
    for (int block = 0; block < 2; ++block) {
      const std::string at = "layer" + std::to_string(stage) + "." + std::to_string(block) + ".";
      expected.push_back(at + "conv1.weight");
      norm(at + "bn1");
      expected.push_back(at + "conv2.weight");
      norm(at + "bn2");
      if (stage > 1 && block == 0) {
        expected.push_back(at + "downsample.0.weight");
        norm(at + "downsample.1");
      }
    }
  }
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  EXPECT_EQ(names, expected);
  const auto shape = [&](const char* name) { return tensors.at(name).sizes().vec(); };
  EXPECT_EQ(shape("conv1.weight"), (std::vector<int64_t>{4, 3, 3, 3}));
  EXPECT_EQ(shape("layer2.0.conv1.weight"), (std::vector<int64_t>{8, 4, 3, 3}));
  EXPECT_EQ(shape("layer2.0.downsample.0.weight"), (std::vector<int64_t>{8, 4, 1, 1}));
  EXPECT_EQ(shape("layer4.1.bn2.bias"), (std::vector<int64_t>{32}));
}

TEST(ResNet, TenHasOneBlockAStage) {
  const auto tensors = OwnTensorsOf(*ResNet(ModelOptions{.arch = "resnet10", .width = 4}, 3));
  EXPECT_TRUE(tensors.contains("layer4.0.bn2.bias"));
  EXPECT_TRUE(tensors.contains("layer4.0.downsample.1.running_var"));
  EXPECT_FALSE(tensors.contains("layer1.0.downsample.0.weight"));
  EXPECT_FALSE(tensors.contains("layer1.1.conv1.weight"));
}

// torchvision's resnet18 has 11689512; without fc (512 x 1000 + 1000 = 513000) 11176512; a 3x3 stem
// for the 7x7 one takes 64 x 3 x (49 - 9) = 7680 away: 11168832.
TEST(ResNet, EighteenHasAsManyParametersAsTorchvisions) {
  EXPECT_EQ(CountResNetParameters(*ResNet(ModelOptions{.arch = "resnet18", .width = 64}, 3)),
            11168832);
}

// Stages halve the image three times, blocks rounding up: a 32 x 32 image is 4 x 4 at the end, so
// moving the input by 8 pixels moves the last stage by one and, away from the edges, changes no
// average. Here only: an image of zeros outside its middle gives the same h moved by 8.
TEST(ResNet, StridesMakeEightInAll) {
  torch::NoGradGuard no_gradient;
  ResNet encoder(ModelOptions{.arch = "resnet10", .width = 2}, 1);
  Initialize(*encoder, 1);
  encoder->eval();
  // Biases are 0 and running means 0: zeros stay zeros.
  auto a = torch::zeros({1, 1, 160, 160}), b = torch::zeros({1, 1, 160, 160}),
       c = torch::zeros({1, 1, 160, 160});
  const auto patch = torch::randn({8, 8});
  a.slice(2, 64, 72).slice(3, 64, 72).copy_(patch);
  b.slice(2, 72, 80).slice(3, 64, 72).copy_(patch);
  c.slice(2, 68, 76).slice(3, 64, 72).copy_(patch);
  const auto h = encoder(a);
  EXPECT_GT(h.abs().max().item<float>(), 0);
  EXPECT_TRUE(torch::allclose(h, encoder(b), 1e-4, 1e-7));
  EXPECT_FALSE(torch::allclose(h, encoder(c), 1e-4, 1e-7));
}

TEST(Network, FeaturesAreUnitRows) {
  torch::NoGradGuard no_gradient;
  Network network(ModelOptions{.arch = "resnet10", .width = 4, .dim = 7}, 3);
  Initialize(*network, 3);
  const auto z = network(torch::randn({6, 3, 16, 16}));
  ASSERT_EQ(z.sizes(), (std::vector<int64_t>{6, 7}));
  for (int64_t i = 0; i < 6; ++i) EXPECT_NEAR(z[i].norm().item<double>(), 1, 1e-5);
}

TEST(Network, TensorsArePrefixedByTheirPartAndShareItsMemory) {
  Network network(ModelOptions{.arch = "resnet10", .width = 4, .dim = 8}, 3);
  const auto tensors = TensorsOf(*network);
  const auto encoder = Under(tensors, "encoder"), projector = Under(tensors, "projector");
  EXPECT_EQ(encoder.size() + projector.size(), tensors.size());
  ASSERT_EQ(projector.size(), 4u + 5u) << "two layers and a norm";
  EXPECT_EQ(projector.at("0.weight").sizes(), (std::vector<int64_t>{32, 32}));
  EXPECT_EQ(projector.at("0.bias").sizes(), (std::vector<int64_t>{32}));
  EXPECT_EQ(projector.at("3.weight").sizes(), (std::vector<int64_t>{8, 32}));
  EXPECT_EQ(projector.at("3.bias").sizes(), (std::vector<int64_t>{8}));
  EXPECT_TRUE(projector.contains("1.running_mean"));
  EXPECT_TRUE(encoder.contains("bn1.running_mean"));
  Network plain(ModelOptions{.arch = "resnet10", .width = 4, .dim = 8, .projector_norm = false}, 3);
  const auto without = Under(TensorsOf(*plain), "projector");
  ASSERT_EQ(without.size(), 4u);
  EXPECT_EQ(without.at("2.weight").sizes(), (std::vector<int64_t>{8, 32}));
  tensors.at("projector/3.bias").fill_(5);
  EXPECT_EQ(network->named_parameters()["projector.3.bias"][0].item<float>(), 5);
  EXPECT_FALSE(tensors.at("projector/3.bias").requires_grad());
}

TEST(Network, CopyIntoMakesModelsEqual) {
  const ModelOptions options{.arch = "resnet10", .width = 4, .dim = 8};
  Network a(options, 3), b(options, 3);
  Initialize(*a, 1);
  Initialize(*b, 2);
  a(torch::randn({4, 3, 16, 16}));  // moves buffers
  CopyInto(TensorsOf(*a), TensorsOf(*b));
  EXPECT_EQ(DigestOf(TensorsOf(*a)), DigestOf(TensorsOf(*b)));
  EXPECT_EQ(TensorsOf(*b).at("encoder/bn1.num_batches_tracked").item<int64_t>(), 1);
  TensorsOf(*a).at("encoder/bn1.bias").fill_(3);
  EXPECT_NE(DigestOf(TensorsOf(*a)), DigestOf(TensorsOf(*b)));
}

TEST(Initialize, IsReproducibleBySeed) {
  const ModelOptions options{.arch = "resnet10", .width = 4, .dim = 8};
  Network a(options, 3), b(options, 3), c(options, 3);
  for (auto& parameter : b->parameters()) parameter.detach().fill_(9);  // wherever it starts from
  Initialize(*a, 42);
  Initialize(*b, 42);
  Initialize(*c, 43);
  EXPECT_EQ(DigestOf(TensorsOf(*a)), DigestOf(TensorsOf(*b)));
  const auto first = TensorsOf(*a), other = TensorsOf(*c);
  for (const char* name : {"encoder/conv1.weight", "encoder/layer4.0.conv2.weight",
                           "projector/0.weight", "projector/3.bias"}) {
    EXPECT_FALSE(torch::equal(first.at(name), other.at(name))) << name;
  }
  // Two tensors of one shape draw from streams of their own.
  EXPECT_FALSE(torch::equal(first.at("encoder/layer1.0.conv1.weight"),
                            first.at("encoder/layer1.0.conv2.weight")));
}

TEST(Initialize, ConvolutionsHaveHesDeviation) {
  ResNet encoder(ModelOptions{.arch = "resnet18", .width = 16}, 3);
  Initialize(*encoder, 7);
  for (const auto& [name, tensor] : OwnTensorsOf(*encoder)) {
    if (tensor.dim() != 4 || tensor.numel() < 30000) continue;
    // sqrt(2 / (out h w)); the deviation of n draws is known to 1 / sqrt(2 n), here below 0.4 %.
    const double expected =
        std::sqrt(2.0 / static_cast<double>(tensor.size(0) * tensor.size(2) * tensor.size(3)));
    EXPECT_NEAR(tensor.std().item<double>() / expected, 1, 0.02) << name;
    EXPECT_NEAR(tensor.mean().item<double>() / expected, 0, 0.03) << name;
    EXPECT_GT(tensor.max().item<double>(), 3 * expected) << name << ": normal, not uniform";
  }
}

// Fan out, not in: the convolution between stages has half as many inputs as outputs.
TEST(Initialize, TheDeviationIsOfTheOutputs) {
  ResNet encoder(ModelOptions{.arch = "resnet10", .width = 32}, 3);
  Initialize(*encoder, 7);
  const auto tensor = OwnTensorsOf(*encoder).at("layer4.0.conv1.weight");  // [256, 128, 3, 3]
  EXPECT_NEAR(tensor.std().item<double>(), std::sqrt(2.0 / (256 * 9)), 1e-3 * 0.5);
}

TEST(Initialize, NormsAreOneAndZeroAndLinearLayersUniform) {
  Network network(ModelOptions{.arch = "resnet10", .width = 8, .dim = 32}, 3);
  for (auto& parameter : network->parameters()) parameter.detach().fill_(9);
  Initialize(*network, 5);
  int norms = 0;
  for (const auto& [name, tensor] : TensorsOf(*network)) {
    const bool layer = name.starts_with("projector/0") || name.starts_with("projector/3");
    if (!layer && tensor.dim() == 1) {
      if (name.ends_with("weight")) {
        EXPECT_TRUE(torch::equal(tensor, torch::ones_like(tensor))) << name;
        ++norms;
      }
      if (name.ends_with("bias")) {
        EXPECT_TRUE(torch::equal(tensor, torch::zeros_like(tensor))) << name;
      }
    }
    if (layer) {
      const double bound = 1 / std::sqrt(64.0);  // both layers have 8 x 8 inputs
      EXPECT_LE(tensor.abs().max().item<double>(), bound) << name;
      EXPECT_GT(tensor.abs().max().item<double>(), 0.8 * bound) << name;
      EXPECT_LT(tensor.min().item<double>(), 0) << name;
    }
    if (layer && tensor.dim() == 2) {
      // Uniform in +-b has deviation b / sqrt(3); n >= 2048 draws know it to about 1 %.
      EXPECT_NEAR(tensor.std().item<double>() * std::sqrt(3.0) * 8, 1, 0.05) << name;
    }
  }
  EXPECT_EQ(norms, 1 + 4 * 2 + 3 + 1);
}

}  // namespace
}  // namespace kindred
