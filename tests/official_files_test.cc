// The published files: parsed and written again, their records have the published MD5s.
// Fashion-MNIST is Debian's package, which `make test` installs; the others are tried where
// `kindred data get` has put them, else skipped.
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

Bytes ReadMaybePacked(std::filesystem::path path) {
  if (!std::filesystem::exists(path)) path += ".gz";
  const Bytes bytes = ReadFile(path, kLimit);
  return IsGzip(bytes) ? Gunzip(bytes, kLimit, path.string()) : bytes;
}

// files: images and labels in turn.
void ExpectIdxRoundTrip(const std::filesystem::path& folder, std::span<const PublishedFile> files) {
  for (size_t i = 0; i < files.size(); i += 2) {
    const Images images = ParseIdxImages(ReadMaybePacked(folder / files[i].name), "images");
    const auto labels = ParseIdxLabels(ReadMaybePacked(folder / files[i + 1].name), 10, "labels");
    EXPECT_EQ(Md5Hex(SerializeIdxImages(images)), files[i].md5);
    EXPECT_EQ(Md5Hex(SerializeIdxLabels(labels)), files[i + 1].md5);
  }
}

TEST(OfficialFiles, Cifar10) { ExpectCifarRoundTrip("cifar10", kCifar10Layout, Cifar10Files()); }
TEST(OfficialFiles, Cifar100) {
  ExpectCifarRoundTrip("cifar100", kCifar100Layout, Cifar100Files());
}
TEST(OfficialFiles, FashionMnist) {
  ExpectIdxRoundTrip("/usr/share/datasets/fashion-mnist", FashionMnistFiles());
}
TEST(OfficialFiles, Mnist) {
  if (!std::filesystem::exists(FolderOf("mnist"))) GTEST_SKIP() << "kindred data get mnist";
  ExpectIdxRoundTrip(FolderOf("mnist"), MnistFiles());
}

}  // namespace
}  // namespace kindred
