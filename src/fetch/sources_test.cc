#include "fetch/sources.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/digest.h"
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

// A dataset of one file, "x" with the content "abc", published as x.gz.
const PublishedFile kFiles[] = {{"x", "900150983cd24fb0d6963f7d28e17f72"}};
const Bytes kContent = {'a', 'b', 'c'};

Published Small(const std::string& address, const Bytes& packed) {
  static std::string kept_address, md5;  // the entry keeps pointers
  kept_address = address;
  md5 = Md5Hex(packed);
  return {.dataset = "small",
          .files = [] { return std::span<const PublishedFile>(kFiles); },
          .address = kept_address.c_str(),
          .downloads = {{"x.gz", md5.c_str()}}};
}

TEST(GetDataset, FetchesVerifiesAndKeepsWhatIsThere) {
  const CacheGuard cache;
  const auto folder = TestFolder();
  const Bytes packed = Gzip(kContent);
  HttpServer server(packed, {.cut_first = 1, .cut_after = 7});
  const Published small = Small(server.address(), packed);
  EXPECT_FALSE(IsHere(small, folder.path() / "s"));
  EXPECT_EQ(GetDataset(small, "", folder.path() / "s").source, "official");
  EXPECT_EQ(FilesBelow(folder.path()), (std::set<std::string>{"s", "s/x"}));
  EXPECT_EQ(ReadFile(folder.path() / "s" / "x", 10), kContent);
  EXPECT_EQ(FilesBelow(CacheFolder()), std::set<std::string>{"downloads"});
  EXPECT_EQ(server.answers(), 2);
  EXPECT_EQ(GetDataset(small, "", folder.path() / "s").source, "");  // there already
  EXPECT_EQ(server.answers(), 2);
  WriteFileAtomically(folder.path() / "s" / "x", std::string_view("abd"));
  ExpectError(ExitCode::kExists, "--force",
              [&] { GetDataset(small, "", folder.path() / "s", false); });
  EXPECT_EQ(GetDataset(small, "", folder.path() / "s").source, "official");  // damaged: again
  EXPECT_EQ(ReadFile(folder.path() / "s" / "x", 10), kContent);
}

TEST(GetDataset, TriesTheNextSourceWhenOneFails) {
  const CacheGuard cache;
  const auto folder = TestFolder(), debian = TestFolder();
  WriteFileAtomically(debian.path() / "x.gz", Gzip(kContent));
  Published small = Small("http://127.0.0.1:1/", {});
  const std::string path = debian.path().string();
  small.debian_folder = path.c_str();
  small.debian_package = "a-package";
  EXPECT_EQ(SourceNames(small), (std::vector<std::string>{"official", "debian"}));
  EXPECT_EQ(GetDataset(small, "", folder.path() / "s").source, "debian");
  EXPECT_EQ(ReadFile(folder.path() / "s" / "x", 10), kContent);
  EXPECT_EQ(GetDataset(small, path, folder.path() / "t").source, path);
}

TEST(GetDataset, AWrongChecksumLeavesNothingBehind) {
  const CacheGuard cache;
  const auto folder = TestFolder();
  HttpServer server(Bytes(5000, 1), {});
  ExpectError(ExitCode::kData, "was published", [&] {
    GetDataset(FindPublished("cifar100"), server.address(), folder.path() / "c");
  });
  EXPECT_EQ(FilesBelow(folder.path()), std::set<std::string>{});
  EXPECT_EQ(FilesBelow(CacheFolder()), std::set<std::string>{"downloads"});  // the bad file is gone
}

TEST(GetDataset, FilesOfAnotherContentAreRefused) {
  const CacheGuard cache;
  const auto from = TestFolder(), to = TestFolder();
  WriteFileAtomically(from.path() / "train.bin", Bytes(100, 1));
  ExpectError(ExitCode::kData, "train.bin has MD5", [&] {
    GetDataset(FindPublished("cifar100"), from.path().string(), to.path() / "c");
  });
  WriteTarGz(from.path() / "cifar-100-binary.tar.gz", {{"x/train.bin", Bytes(9, 9)}});
  std::filesystem::remove(from.path() / "train.bin");
  ExpectError(ExitCode::kData, "train.bin has MD5", [&] {
    GetDataset(FindPublished("cifar100"), from.path().string(), to.path() / "c");
  });
  WriteFileAtomically(from.path() / "train-images-idx3-ubyte.gz", Bytes{0x1f, 0x8b, 8});
  ExpectError(ExitCode::kData, "cut short",
              [&] { GetDataset(FindPublished("mnist"), from.path().string(), to.path() / "c"); });
  EXPECT_EQ(FilesBelow(to.path()), std::set<std::string>{});
}

TEST(GetDataset, RefusesSourcesItDoesNotKnow) {
  const CacheGuard cache;
  ExpectError(ExitCode::kUsage, "cannot be fetched", [] { FindPublished("shapes"); });
  ExpectError(ExitCode::kUsage, "official, npm, an address",
              [] { GetDataset(FindPublished("mnist"), "ftp", "/none"); });
  ExpectError(ExitCode::kUsage, "official, an address",
              [] { GetDataset(FindPublished("cifar100"), "npm", "/none"); });
}

TEST(GetDataset, AnAddressThatCannotBeReachedIsANetworkError) {
  const CacheGuard cache;
  const auto folder = TestFolder();
  ExpectError(ExitCode::kNetwork, "cifar100: http://127.0.0.1:1/cifar-100-binary.tar.gz", [&] {
    GetDataset(FindPublished("cifar100"), "http://127.0.0.1:1/", folder.path() / "c");
  });
}

}  // namespace
}  // namespace kindred
