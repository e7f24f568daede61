#include "data/idx.h"

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/gzip.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// Two images of 2 x 3, written by hand.
const Bytes kImages = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                       0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const Bytes kLabels = {0, 0, 8, 1, 0, 0, 0, 2, 9, 0};

TEST(Idx, ReadsAndWritesTheFormat) {
  const Images images = ParseIdxImages(kImages, "x");
  EXPECT_EQ(images.count, 2);
  EXPECT_EQ(images.height, 2);
  EXPECT_EQ(images.width, 3);
  EXPECT_TRUE(images.grey);
  EXPECT_EQ(images[1][0], 7);
  EXPECT_EQ(SerializeIdxImages(images), kImages);
  const auto labels = ParseIdxLabels(kLabels, 10, "x");
  EXPECT_EQ(labels, (std::vector<int>{9, 0}));
  EXPECT_EQ(SerializeIdxLabels(labels), kLabels);
}

TEST(Idx, RefusesBrokenFiles) {
  const auto expect = [](const std::string& part, Bytes bytes) {
    ExpectError(ExitCode::kData, part, [&] { ParseIdxImages(bytes, "x"); });
  };
  Bytes bytes = kImages;
  bytes.pop_back();
  expect("cut short", bytes);
  bytes.push_back(0);
  bytes.push_back(0);
  expect("too long", bytes);
  bytes = kImages;
  bytes[2] = 9;
  expect("begins with 00000903", bytes);
  expect("begins with 1f8b0000", {0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect("too few", {0, 0, 8, 3});
  // 2^32 - 1 on every axis: the product is not computed in 64 bits.
  expect("cut short", {0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255});
  expect("holds no image", {0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3});
  expect("sides must be", {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3});
  ExpectError(ExitCode::kData, "image 0 has label 9", [&] { ParseIdxLabels(kLabels, 9, "x"); });
}

// Writes the four files of a dataset with the two images, packed or not.
void WriteDataset(const std::filesystem::path& folder, bool gzip) {
  for (const auto& file : MnistFiles()) {
    const std::string name = file.name;
    const Bytes& bytes = name.find("images") != std::string::npos ? kImages : kLabels;
    WriteFileAtomically(folder / (gzip ? name + ".gz" : name), gzip ? Gzip(bytes) : bytes);
  }
}

TEST(Idx, PackedAndPlainFilesGiveTheSameDataset) {
  const auto plain = TestFolder(), packed = TestFolder();
  WriteDataset(plain.path(), false);
  WriteDataset(packed.path(), true);
  const Dataset a = LoadMnist({.name = "mnist", .path = plain.path().string()});
  const Dataset b = LoadFashionMnist({.name = "fashion-mnist", .path = packed.path().string()});
  EXPECT_EQ(a.train.images.pixels, b.train.images.pixels);
  EXPECT_EQ(a.test.labels, (std::vector<int>{9, 0}));
  EXPECT_EQ(b.label_names[9], "ankle boot");
}

TEST(Idx, RefusesMissingDamagedAndUnequalFiles) {
  const auto folder = TestFolder();
  WriteDataset(folder.path(), true);
  const DataOptions options{.name = "mnist", .path = folder.path().string()};
  const auto load = [&] { LoadMnist(options); };
  Bytes packed = ReadFile(folder.path() / "train-images-idx3-ubyte.gz", 1000);
  packed.resize(packed.size() / 2);
  WriteFileAtomically(folder.path() / "train-images-idx3-ubyte.gz", packed);
  ExpectError(ExitCode::kData, "the gzip stream is cut short", load);
  std::filesystem::remove(folder.path() / "train-images-idx3-ubyte.gz");
  ExpectError(ExitCode::kData, "kindred data get mnist", load);
  WriteDataset(folder.path(), true);
  WriteFileAtomically(folder.path() / "t10k-labels-idx1-ubyte.gz",
                      Gzip({0, 0, 8, 1, 0, 0, 0, 1, 5}));
  ExpectError(ExitCode::kData, "1 labels for the 2 images", load);
}

}  // namespace
}  // namespace kindred
