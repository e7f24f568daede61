#include "data/cifar.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// Records with random pixels; labels run through the classes.
Bytes RandomFile(const CifarLayout& layout, int count, uint64_t seed) {
  Rng rng({.seed = seed, .purpose = Purpose::kShapes});
  Bytes bytes;
  for (int i = 0; i < count; ++i) {
    if (layout.coarse_classes > 0) bytes.push_back(static_cast<uint8_t>(i % layout.coarse_classes));
    bytes.push_back(static_cast<uint8_t>(i % layout.classes));
    for (int p = 0; p < 3072; ++p) bytes.push_back(static_cast<uint8_t>(rng()));
  }
  return bytes;
}

// A folder laid out as CIFAR-10 with `count` images a file.
void WriteCifar10(const std::filesystem::path& folder, int count) {
  uint64_t seed = 0;
  for (const auto& file : Cifar10Files()) {
    WriteFileAtomically(folder / file.name, RandomFile(kCifar10Layout, count, seed++));
  }
}

TEST(Cifar, RecordsReadBackBitForBit) {
  for (const auto& layout : {kCifar10Layout, kCifar100Layout}) {
    const Bytes bytes = RandomFile(layout, 25, 1);
    CifarRecords records;
    ParseCifar(bytes, layout, "x", records);
    EXPECT_EQ(records.images.count, 25);
    EXPECT_EQ(records.labels[13], 13 % layout.classes);
    EXPECT_EQ(SerializeCifar(records, layout), bytes);
  }
}

// Labels come before the pixels, red before green: hand-made record.
TEST(Cifar, FindsLabelAndPlanes) {
  Bytes bytes = {19, 99};
  bytes.insert(bytes.end(), 1024, 1);
  bytes.insert(bytes.end(), 1024, 2);
  bytes.insert(bytes.end(), 1024, 3);
  CifarRecords records;
  ParseCifar(bytes, kCifar100Layout, "x", records);
  EXPECT_EQ(records.coarse_labels[0], 19);
  EXPECT_EQ(records.labels[0], 99);
  EXPECT_EQ(records.images[0][1023], 1);
  EXPECT_EQ(records.images[0][1024], 2);
  EXPECT_EQ(records.images[0][3071], 3);
}

TEST(Cifar, RefusesBrokenFiles) {
  CifarRecords records;
  Bytes bytes = RandomFile(kCifar10Layout, 3, 1);
  const auto parse = [&] { ParseCifar(bytes, kCifar10Layout, "x.bin", records); };
  bytes.pop_back();
  ExpectError(ExitCode::kData, "not a whole number of records", parse);
  bytes.push_back(0);
  bytes.push_back(0);
  ExpectError(ExitCode::kData, "not a whole number of records", parse);
  bytes.pop_back();
  bytes[3073] = 10;
  ExpectError(ExitCode::kData, "record 1 has label 10", parse);
  bytes.clear();
  ExpectError(ExitCode::kData, "0 bytes", parse);
  bytes = RandomFile(kCifar100Layout, 1, 1);
  bytes[0] = 20;
  ExpectError(ExitCode::kData, "coarse label 20",
              [&] { ParseCifar(bytes, kCifar100Layout, "x.bin", records); });
}

TEST(Cifar, TakesOtherFilesOnlyWhenAllowed) {
  const auto folder = TestFolder();
  WriteCifar10(folder.path(), 20);
  DataOptions options{.name = "cifar10", .path = folder.path().string()};
  ExpectError(ExitCode::kData, "not the official file", [&] { LoadCifar10(options); });
  options.verify = false;
  const Dataset dataset = LoadCifar10(options);
  EXPECT_EQ(dataset.train.images.count, 100);
  EXPECT_EQ(dataset.test.images.count, 20);
  EXPECT_EQ(dataset.label_names[9], "truck");
  std::filesystem::remove(folder.path() / "data_batch_3.bin");
  ExpectError(ExitCode::kData, "data_batch_3.bin: missing", [&] { LoadCifar10(options); });
}

TEST(Cifar, FindsTheFolderOfTheOfficialArchive) {
  const auto folder = TestFolder();
  std::filesystem::create_directory(folder.path() / "cifar-10-batches-bin");
  WriteCifar10(folder.path() / "cifar-10-batches-bin", 10);
  const DataOptions options{.name = "cifar10", .path = folder.path().string(), .verify = false};
  EXPECT_EQ(LoadCifar10(options).train.images.count, 50);
}

}  // namespace
}  // namespace kindred
