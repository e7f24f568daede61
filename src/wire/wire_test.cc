#include "wire/wire.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace kindred {
namespace {

NamedTensors Sample() {
  torch::manual_seed(3);
  return {{"bias", torch::randn({5})},
          {"n", torch::full({}, 1234567890123, torch::kInt64)},
          {"weight", torch::randn({4, 3})}};
}

TEST(Wire, WhatIsPackedComesBack) {
  const NamedTensors tensors = Sample();
  const Manifest manifest = ManifestOf(tensors, Precision::kFloat);
  Bytes bytes = Pack(tensors, manifest);
  EXPECT_EQ(bytes.size(), 5u * 4 + 8 + 12 * 4);
  EXPECT_EQ(BytesOf(manifest), bytes.size());
  EXPECT_EQ(DigestOf(Unpack(bytes, manifest)), DigestOf(tensors));
}

TEST(Wire, ChunksGrowWithWhatHasMoved) {
  EXPECT_EQ(NextChunk(0), 1u << 16);
  EXPECT_EQ(NextChunk(4 << 20), 1u << 16);
  EXPECT_EQ(NextChunk(16 << 20), 1u << 18);
  EXPECT_EQ(NextChunk(1 << 30), kMostChunk);
}

TEST(Wire, HalfKeepsVectorsAndRoundsWeights) {
  const NamedTensors tensors = Sample();
  const Manifest manifest = ManifestOf(tensors, Precision::kHalf);
  Bytes bytes = Pack(tensors, manifest);
  EXPECT_EQ(bytes.size(), 5u * 4 + 8 + 12 * 2);
  const NamedTensors back = Unpack(bytes, manifest);
  EXPECT_TRUE(torch::equal(back.at("bias"), tensors.at("bias")));
  EXPECT_TRUE(torch::equal(back.at("n"), tensors.at("n")));
  EXPECT_TRUE(
      torch::equal(back.at("weight"), tensors.at("weight").to(torch::kHalf).to(torch::kFloat)));
  EXPECT_FALSE(torch::equal(back.at("weight"), tensors.at("weight")));
}

Bytes PackRows(const at::Tensor& rows, Precision precision) {
  const Content content(rows, precision);
  Bytes bytes(content.size());
  content.Read(0, bytes);
  return bytes;
}

TEST(Wire, ContentIsReadFromAnywhere) {
  for (const auto precision : {Precision::kFloat, Precision::kHalf}) {
    const NamedTensors tensors = Sample();
    const Manifest manifest = ManifestOf(tensors, precision);
    const Content content(tensors, manifest);
    const Bytes all = Pack(tensors, manifest);
    EXPECT_EQ(content.size(), all.size());
    EXPECT_EQ(content.Digest(), DigestOfBytes(all));
    for (size_t offset = 0; offset <= all.size(); ++offset) {
      for (size_t size = 0; offset + size <= all.size(); ++size) {
        Bytes some(size);
        content.Read(offset, some);
        EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + static_cast<int>(offset)));
      }
    }
  }
  EXPECT_EQ(Content(at::Tensor(), Precision::kFloat).size(), 0u);
}

// Behind an odd number of 16-bit floats the others are out of line.
TEST(Wire, FloatsBehindAnOddNumberOfHalvesAreAligned) {
  const NamedTensors model = {{"a", torch::ones({5, 3})},
                              {"b", torch::tensor({0.1f, -2.5f})},
                              {"n", torch::full({}, 7, torch::kInt64)}};
  const Manifest manifest = ManifestOf(model, Precision::kHalf);
  ASSERT_EQ(manifest[1].offset % 4, 2u);
  Bytes bytes = Pack(model, manifest);
  const NamedTensors back = Unpack(bytes, manifest);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(back.at("b").data_ptr()) % alignof(float), 0u);
  for (const auto& [name, tensor] : model) EXPECT_TRUE(torch::equal(back.at(name), tensor)) << name;
}

TEST(Wire, HalfRowsAreUnitAgain) {
  const auto rows = torch::nn::functional::normalize(torch::randn({7, 128}));
  const Bytes bytes = PackRows(rows, Precision::kHalf);
  EXPECT_EQ(bytes.size(), BytesOfRows(7, 128, Precision::kHalf));
  const auto back = UnpackRows(bytes, 7, 128, Precision::kHalf);
  EXPECT_TRUE(torch::allclose(back.norm(2, 1), torch::ones({7}), 0, 1e-6));
  EXPECT_TRUE(torch::allclose(back, rows, 0, 1e-3));
  EXPECT_TRUE(
      torch::equal(UnpackRows(PackRows(rows, Precision::kFloat), 7, 128, Precision::kFloat), rows));
}

TEST(Wire, ManifestsDifferInEverythingTheySay) {
  const Manifest wanted = ManifestOf(Sample(), Precision::kFloat);
  EXPECT_EQ(CheckManifest(wanted, wanted), std::nullopt);
  const auto changed = [&](const auto& change) {
    Manifest claimed = wanted;
    change(claimed);
    EXPECT_NE(CheckManifest(claimed, wanted), std::nullopt);
    EXPECT_NE(HashOf(claimed), HashOf(wanted));
  };
  changed([](Manifest& m) { m[0].name = "other"; });
  changed([](Manifest& m) { m[0].kind = "F16"; });
  changed([](Manifest& m) { m[2].shape = {3, 4}; });
  changed([](Manifest& m) { m[1].offset += 1; });
  changed([](Manifest& m) { m[1].bytes += 1; });
  changed([](Manifest& m) { m.pop_back(); });
  changed([](Manifest& m) { m.push_back(m.back()); });
  changed([](Manifest& m) { std::swap(m[0], m[1]); });
}

}  // namespace
}  // namespace kindred
