#include "fetch/npm_package.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// Puts a program called npm in front of the PATH while it lives.
class FakeNpm {
 public:
  explicit FakeNpm(std::string_view script) : path_(std::getenv("PATH")) {
    WriteFileAtomically(folder_.path() / "npm", script);
    std::filesystem::permissions(folder_.path() / "npm", std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_.path().string() + ":/usr/bin:/bin").c_str(), 1);
  }
  ~FakeNpm() { ::setenv("PATH", path_.c_str(), 1); }

 private:
  TemporaryFolder folder_{std::filesystem::temp_directory_path()};
  std::string path_;
};

TEST(PackNpmPackage, ReturnsTheArchive) {
  const FakeNpm npm("#!/bin/sh\n[ \"$1 $2\" = 'pack a@1' ] && echo noise && : > \"$5/a-1.tgz\"\n");
  const auto folder = TestFolder();
  EXPECT_EQ(PackNpmPackage("a@1", folder.path()), folder.path() / "a-1.tgz");
}

TEST(PackNpmPackage, SaysWhyThereIsNone) {
  const auto folder = TestFolder();
  {
    const FakeNpm npm("#!/bin/sh\nexit 7\n");
    ExpectError(ExitCode::kNetwork, "failed with code 7",
                [&] { PackNpmPackage("a@1", folder.path()); });
  }
  {
    const FakeNpm npm("#!/bin/sh\nexit 0\n");
    ExpectError(ExitCode::kNetwork, "left no archive",
                [&] { PackNpmPackage("a@1", folder.path()); });
  }
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/none", 1);
  ExpectError(ExitCode::kNetwork, "npm cannot be run",
              [&] { PackNpmPackage("a@1", folder.path()); });
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace kindred
