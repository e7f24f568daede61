#include "fetch/archive.h"

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/tar.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(ReadArchive, TakesTheWantedFilesByTheirLastName) {
  const auto folder = TestFolder();
  WriteTarGz(
      folder.path() / "a.tgz",
      {{"x/y/train.bin", Bytes(3'000'000, 5)}, {"../../etc/test.bin", {1, 2}}, {"x/readme", {9}}});
  const FileSet files = ReadArchive(folder.path() / "a.tgz", {"train.bin", "test.bin"}, 1 << 22);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files.at("train.bin"), Bytes(3'000'000, 5));
  EXPECT_EQ(files.at("test.bin"), (Bytes{1, 2}));
  EXPECT_EQ(FilesBelow(folder.path()), std::set<std::string>{"a.tgz"});  // nothing was unpacked
}

TEST(ReadArchive, RefusesDamageAndBombs) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "a.tgz";
  Bytes random(100'000);
  for (size_t i = 0; i < random.size(); ++i)
    random[i] = static_cast<uint8_t>((i * 2654435761u) >> 13);
  WriteTarGz(path, {{"train.bin", random}});
  ExpectError(ExitCode::kData, "larger than 99999",
              [&] { ReadArchive(path, {"train.bin"}, 99'999); });
  Bytes bytes = ReadFile(path, 1 << 20);
  bytes.resize(bytes.size() / 2);
  WriteFileAtomically(path, bytes);
  ExpectError(ExitCode::kData, "damaged archive",
              [&] { ReadArchive(path, {"train.bin"}, 1 << 20); });
  WriteFileAtomically(path, std::string_view("no archive at all"));
  ExpectError(ExitCode::kData, "damaged archive",
              [&] { ReadArchive(path, {"train.bin"}, 1 << 20); });
}

}  // namespace
}  // namespace kindred
