// The published files, where they are here (`kindred data get`): parsed and written again, their
// records have the published MD5s. Skipped where they are not.
#include <gtest/gtest.h>

#include "base/digest.h"
#include "data/cifar.h"
#include "data/gunzip.h"
#include "data/idx.h"

namespace kindred {
namespace {

constexpr uint64_t kLimit = 1 << 30;

std::filesystem::path FolderOf(const std::string& name) {
  DataOptions options;
  options.name = name;
  return DataPath(options);
}

void ExpectCifarRoundTrip(const std::string& name, const CifarLayout& layout,
                          std::span<const PublishedFile> files) {
  if (!std::filesystem::exists(FolderOf(name))) GTEST_SKIP() << "kindred data get " << name;
  for (const auto& file : files) {
    CifarRecords records;
    ParseCifar(ReadFile(FolderOf(name) / file.name, kLimit), layout, file.name, records);
    EXPECT_EQ(Md5Hex(SerializeCifar(records, layout)), file.md5) << file.name;
  }
}

// files: images and labels in turn.
void ExpectIdxRoundTrip(const std::string& name, std::span<const PublishedFile> files) {
  if (!std::filesystem::exists(FolderOf(name))) GTEST_SKIP() << "kindred data get " << name;
  for (size_t i = 0; i < files.size(); i += 2) {
    const Images images =
        ParseIdxImages(ReadFile(FolderOf(name) / files[i].name, kLimit), "images");
    const auto labels =
        ParseIdxLabels(ReadFile(FolderOf(name) / files[i + 1].name, kLimit), 10, "");
    EXPECT_EQ(Md5Hex(SerializeIdxImages(images)), files[i].md5);
    EXPECT_EQ(Md5Hex(SerializeIdxLabels(labels)), files[i + 1].md5);
  }
}

TEST(OfficialFiles, Cifar10) { ExpectCifarRoundTrip("cifar10", kCifar10Layout, Cifar10Files()); }
TEST(OfficialFiles, Cifar100) {
  ExpectCifarRoundTrip("cifar100", kCifar100Layout, Cifar100Files());
}
TEST(OfficialFiles, FashionMnist) { ExpectIdxRoundTrip("fashion-mnist", FashionMnistFiles()); }
TEST(OfficialFiles, Mnist) { ExpectIdxRoundTrip("mnist", MnistFiles()); }

}  // namespace
}  // namespace kindred
