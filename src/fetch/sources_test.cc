#include "fetch/sources.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/folders.h"
#include "tests/gzip.h"
#include "tests/http_server.h"
#include "tests/tar.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// A cache of its own for the time of a test.
class CacheGuard {
 public:
  CacheGuard() {
    if (const char* old = std::getenv("XDG_CACHE_HOME")) old_ = old;
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  ~CacheGuard() {
    if (old_.empty()) {
      ::unsetenv("XDG_CACHE_HOME");
    } else {
      ::setenv("XDG_CACHE_HOME", old_.c_str(), 1);
    }
  }

 private:
  TemporaryFolder folder_{std::filesystem::temp_directory_path()};
  std::string old_;
};

TEST(PublishedDatasets, AreInTheTableOfDatasets) {
  std::set<std::string> known;
  for (const auto& kind : DatasetKinds()) known.insert(kind.name);
  for (const auto& published : PublishedDatasets()) {
    EXPECT_TRUE(known.count(published.dataset)) << published.dataset;
    for (const auto& file : published.files()) EXPECT_EQ(std::string(file.md5).size(), 32u);
    for (const auto& file : published.downloads) EXPECT_EQ(std::string(file.md5).size(), 32u);
    EXPECT_TRUE(std::string(published.address).ends_with("/"));
  }
}

TEST(GetDataset, AWrongChecksumLeavesNothingBehind) {
  const CacheGuard cache;
  const auto folder = TestFolder();
  HttpServer server(Bytes(5000, 1), {});
  ExpectError(ExitCode::kData, "was published",
              [&] { GetDataset("cifar100", server.address(), folder.path() / "c"); });
  EXPECT_EQ(FilesBelow(folder.path()), std::set<std::string>{});
  EXPECT_EQ(FilesBelow(CacheFolder()), std::set<std::string>{"downloads"});  // the bad file is gone
}

TEST(GetDataset, FilesOfAnotherContentAreRefused) {
  const CacheGuard cache;
  const auto from = TestFolder(), to = TestFolder();
  WriteFileAtomically(from.path() / "train.bin", Bytes(100, 1));
  ExpectError(ExitCode::kData, "train.bin has MD5",
              [&] { GetDataset("cifar100", from.path().string(), to.path() / "c"); });
  WriteTarGz(from.path() / "cifar-100-binary.tar.gz", {{"x/train.bin", Bytes(9, 9)}});
  std::filesystem::remove(from.path() / "train.bin");
  ExpectError(ExitCode::kData, "train.bin has MD5",
              [&] { GetDataset("cifar100", from.path().string(), to.path() / "c"); });
  WriteFileAtomically(from.path() / "train-images-idx3-ubyte.gz", Bytes{0x1f, 0x8b, 8});
  ExpectError(ExitCode::kData, "cut short",
              [&] { GetDataset("mnist", from.path().string(), to.path() / "c"); });
  EXPECT_EQ(FilesBelow(to.path()), std::set<std::string>{});
}

TEST(GetDataset, RefusesSourcesItDoesNotKnow) {
  const CacheGuard cache;
  ExpectError(ExitCode::kUsage, "cannot be fetched", [] { GetDataset("shapes", "", "/none"); });
  ExpectError(ExitCode::kUsage, "official, npm, an address",
              [] { GetDataset("mnist", "ftp", "/none"); });
  ExpectError(ExitCode::kUsage, "official, an address",
              [] { GetDataset("cifar100", "npm", "/none"); });
}

TEST(GetDataset, AnAddressThatCannotBeReachedIsANetworkError) {
  const CacheGuard cache;
  const auto folder = TestFolder();
  ExpectError(ExitCode::kNetwork, "cifar100: http://127.0.0.1:1/cifar-100-binary.tar.gz",
              [&] { GetDataset("cifar100", "http://127.0.0.1:1/", folder.path() / "c"); });
}

}  // namespace
}  // namespace kindred
