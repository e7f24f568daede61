#include "base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(File, ReadsBackWhatWasWritten) {
  const auto folder = TestFolder();
  Bytes bytes(100'000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  WriteFileAtomically(folder.path() / "a", bytes);
  EXPECT_EQ(ReadFile(folder.path() / "a", 100'000), bytes);
  WriteFileAtomically(folder.path() / "a", std::string_view("new"));
  EXPECT_EQ(ReadFile(folder.path() / "a", 3).size(), 3u);
  EXPECT_EQ(FilesBelow(folder.path()), std::set<std::string>{"a"});
}

TEST(File, RefusesWhatIsNoReadableFile) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / "a", std::string_view("four"));
  ExpectError(ExitCode::kData, "4 bytes, more than the 3",
              [&] { ReadFile(folder.path() / "a", 3); });
  ExpectError(ExitCode::kData, "cannot open", [&] { ReadFile(folder.path() / "none", 3); });
  ExpectError(ExitCode::kData, "not a regular file", [&] { ReadFile(folder.path(), 3); });
  ExpectError(ExitCode::kData, "not a regular file", [&] { ReadFile("/dev/zero", 3); });
}

TEST(File, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const auto folder = TestFolder();
  std::filesystem::create_directory(folder.path() /
                                    "busy");  // a folder cannot be replaced by a file
  ExpectError(ExitCode::kData, "not a regular file",
              [&] { WriteFileAtomically(folder.path() / "busy", std::string_view("x")); });
  ExpectError(ExitCode::kData, "cannot write here",
              [&] { WriteFileAtomically(folder.path() / "none" / "x", std::string_view("x")); });
  EXPECT_EQ(FilesBelow(folder.path()), std::set<std::string>{"busy"});
}

TEST(File, ALinkKeepsLeadingToWhatIsWritten) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / "a", std::string_view("old"));
  std::filesystem::create_symlink("a", folder.path() / "link");
  WriteFileAtomically(folder.path() / "link", std::string_view("new!"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "a"), 4u);
}

// What another container's process of the same number writes, or somebody who guesses names plants,
// is left alone: the names are drawn.
TEST(File, TakesNoTemporaryNameThatFollowsFromTheProcess) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / "victim", std::string_view("theirs"));
  for (int i = 0; i < 1000; ++i) {
    const auto name = folder.path() / fmt::format(".tmp-{}-{}", ::getpid(), i);
    std::filesystem::create_symlink("victim", name);
  }
  const auto planted = FilesBelow(folder.path());
  WriteFileAtomically(folder.path() / "new", std::string_view("ours"));
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "victim"), 6u);
  auto expected = planted;
  expected.insert("new");
  EXPECT_EQ(FilesBelow(folder.path()), expected);
}

TEST(File, TwoWritersNeverShareATemporaryName) {
  const auto folder = TestFolder();
  const AtomicFile first(folder.path() / "a"), second(folder.path() / "a");
  const auto names = FilesBelow(folder.path());
  ASSERT_EQ(names.size(), 2u);
  for (const auto& name : names) {
    ASSERT_TRUE(name.starts_with(".tmp-")) << name;  // as what sweeps leftovers knows them
    const std::string drawn = name.substr(5);
    EXPECT_EQ(drawn.size(), 16u) << name;
    EXPECT_EQ(drawn.find_first_not_of("0123456789abcdef"), std::string::npos) << name;
  }
  // Nothing of one name says what the next one is.
  EXPECT_NE(names.begin()->substr(0, 13), names.rbegin()->substr(0, 13));
}

TEST(File, RefusesToOverwriteUnlessForced) {
  const auto folder = TestFolder();
  EXPECT_NO_THROW(RefuseToOverwrite(folder.path() / "new", false));
  WriteFileAtomically(folder.path() / "old", std::string_view("x"));
  ExpectError(ExitCode::kExists, "--force",
              [&] { RefuseToOverwrite(folder.path() / "old", false); });
  EXPECT_NO_THROW(RefuseToOverwrite(folder.path() / "old", true));
  ExpectError(ExitCode::kExists, "a folder is there",
              [&] { RefuseToOverwrite(folder.path(), true); });
}

TEST(FolderLock, IsHeldByOneAtATime) {
  const auto folder = TestFolder();
  {
    const FolderLock lock(folder.path());
    ExpectError(ExitCode::kExists, "another process", [&] { FolderLock second(folder.path()); });
  }
  EXPECT_NO_THROW(FolderLock(folder.path()));
  ExpectError(ExitCode::kData, "cannot open", [&] { FolderLock(folder.path() / "none"); });
}

TEST(TemporaryFolder, IsDeletedWithItsContent) {
  std::filesystem::path path;
  {
    const auto folder = TestFolder();
    path = folder.path();
    WriteFileAtomically(path / "a", std::string_view("x"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace kindred
