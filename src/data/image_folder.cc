#include "data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/image_file.h"
#include "data/image_list.h"
#include "data/resize.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultSize = 32;
constexpr uint64_t kListLimit = 256 << 20;
constexpr uint64_t kImageFileLimit = 256 << 20;

// A file to read and what its place says about it. Empty: nothing.
struct Entry {
  fs::path path;
  std::string file;  // as shown to people
  std::string label;
  std::string folder;
};

bool HasImageName(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

constexpr size_t kMostDepth = 3;  // owner / class / image

// Adds the image files below a folder, in the order of their paths. `above`: the real paths of the
// folders it lies in, so that a link back to one of them ends there.
void Walk(const fs::path& folder, std::vector<fs::path> above, std::vector<fs::path>& files) {
  std::error_code error;
  const auto real = fs::canonical(folder, error);
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw DataError("{}: cannot open the folder: {}", Printable(folder.string()), error.message());
  }
  if (std::find(above.begin(), above.end(), real) != above.end()) {
    spdlog::warn("passed over: {} leads back to a folder above it", Printable(folder.string()));
    return;
  }
  above.push_back(real);
  std::vector<fs::path> children;
  for (const auto& entry : entries) children.push_back(entry.path());
  std::sort(children.begin(), children.end());
  for (const auto& child : children) {
    if (child.filename().string().starts_with('.')) continue;
    if (!fs::is_directory(child, error)) {  // a link that leads nowhere is no folder
      if (HasImageName(child)) files.push_back(child);
    } else if (above.size() < kMostDepth) {
      Walk(child, above, files);
    } else {
      throw DataError("{}: lies deeper than owner/class/image", Printable(child.string()));
    }
  }
}

std::vector<Entry> ListFolder(const fs::path& root) {
  std::vector<fs::path> files;
  Walk(root, {}, files);
  if (files.empty()) {
    throw DataError("{}: no .png, .jpg or .jpeg file in it", Printable(root.string()));
  }
  std::vector<Entry> entries;
  size_t depth = 0;
  for (const auto& path : files) {
    const fs::path below = path.lexically_relative(root);
    const std::vector<fs::path> parts(below.begin(), below.end());
    if (depth != 0 && depth != parts.size()) {
      throw DataError(
          "{}: images lie at different depths ({} and {}); use class folders, owner/class folders, "
          "or a flat folder",
          Printable(root.string()), Printable(entries[0].file), Printable(below.string()));
    }
    depth = parts.size();
    Entry entry{.path = path, .file = below.string()};
    if (depth >= 2) {
      entry.label = parts[depth - 2].string();
      entry.folder = parts[0].string();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> ListFile(const fs::path& list) {
  if (HasImageName(list)) {
    throw DataError("{}: a single image; name its folder, or a list", Printable(list.string()));
  }
  const Bytes bytes = ReadFile(list, kListLimit);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<Entry> entries;
  for (const auto& image : ParseImageList(text, list.string())) {
    entries.push_back({.path = list.parent_path() / image.file,
                       .file = image.file,
                       .label = image.label,
                       .folder = image.owner});
  }
  return entries;
}

// The different values of a field in order; a value's place is its number. Every entry has one, or
// none.
std::vector<std::string> Values(const std::vector<Entry>& entries, std::string Entry::*field,
                                const char* what) {
  const auto given = [&](const Entry& entry) { return !(entry.*field).empty(); };
  const auto without = std::find_if_not(entries.begin(), entries.end(), given);
  if (without != entries.end() && std::any_of(entries.begin(), entries.end(), given)) {
    throw DataError("{}: has no {}, though others have", Printable(without->file), what);
  }
  std::set<std::string> values;
  for (const auto& entry : entries) {
    if (given(entry)) values.insert(entry.*field);
  }
  return {values.begin(), values.end()};
}

// The place of each entry's value; empty when there are no values.
std::vector<int> Places(const std::vector<Entry>& entries, std::string Entry::*field,
                        const std::vector<std::string>& values) {
  std::vector<int> places;
  if (values.empty()) return places;
  for (const auto& entry : entries) {
    const auto at = std::lower_bound(values.begin(), values.end(), entry.*field);
    places.push_back(static_cast<int>(at - values.begin()));
  }
  return places;
}

// The entries at these places.
std::vector<Entry> Choose(const std::vector<Entry>& entries, const std::vector<int>& indices) {
  std::vector<Entry> chosen;
  for (const int i : indices) chosen.push_back(entries[static_cast<size_t>(i)]);
  return chosen;
}

// Moves every so many-th entry of each class to `test`, so that `share` of them are there.
void HoldOut(std::vector<Entry>& train, std::vector<Entry>& test, double share) {
  std::map<std::string, int> seen;
  std::vector<Entry> rest;
  for (auto& entry : train) {
    const int rank = seen[entry.label]++;
    const bool held = static_cast<int>((rank + 1) * share) > static_cast<int>(rank * share);
    (held ? test : rest).push_back(std::move(entry));
  }
  train = std::move(rest);
}

// Decodes images, keeping count of those that could not be.
class Decoder {
 public:
  Decoder(int size, int skip) : size_(size), skip_(skip) {}

  // Decodes the entries' images in order; the entries that could not be are taken out.
  Images DecodeAll(std::vector<Entry>& entries) {
    Images images{.height = size_, .width = size_};
    const size_t bytes = images.ImageSize();
    std::vector<Entry> decoded;
    Progress progress("reading images", entries.size(), "images");
    for (auto& entry : entries) {
      progress.At(decoded.size());
      images.pixels.resize((decoded.size() + 1) * bytes);
      if (!Decode(entry, std::span(images.pixels).last(bytes))) continue;
      decoded.push_back(std::move(entry));
    }
    images.pixels.resize(decoded.size() * bytes);
    images.count = static_cast<int>(decoded.size());
    entries = std::move(decoded);
    return images;
  }

 private:
  // False: unreadable, and within the budget of data.skip.
  bool Decode(const Entry& entry, std::span<uint8_t> out) {
    try {
      const Bytes bytes = ReadFile(entry.path, kImageFileLimit);
      const DecodedImage image = DecodeImage(bytes, size_, entry.path.string());
      ResizeToSquare(image.pixels, image.shape, size_, out);
      return true;
    } catch (const Error& error) {
      if (skipped_ == skip_) {
        throw DataError("{}; data.skip={} leaves out up to {} unreadable images", error.what(),
                        skip_ + 1, skip_ + 1);
      }
      ++skipped_;
      spdlog::warn("left out: {}", error.what());
      return false;
    }
  }

  int size_;
  int skip_;
  int skipped_ = 0;
};

std::vector<std::string> Shown(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const auto& name : names) shown.push_back(Printable(name));
  return shown;
}

}  // namespace

Dataset LoadImageFolder(const DataOptions& options) {
  if (options.path.empty()) throw UsageError("data.path is empty: say where the images are");
  const fs::path root = options.path;
  if (!FileExists(root)) throw DataError("{}: no such folder or list", Printable(root.string()));
  std::vector<Entry> train, test;
  if (!IsFolder(root)) {
    train = ListFile(root);
  } else if (IsFolder(root / "train") && IsFolder(root / "test")) {
    train = ListFolder(root / "train");
    test = ListFolder(root / "test");
  } else {
    if (IsFolder(root / "train") || IsFolder(root / "test")) {
      spdlog::warn("{}: has train/ or test/, not both: taken as a folder like any other",
                   Printable(root.string()));
    }
    train = ListFolder(root);
  }
  if (test.empty() && options.holdout > 0) HoldOut(train, test, options.holdout);

  std::vector<Entry> all = train;
  all.insert(all.end(), test.begin(), test.end());
  const auto labels = Values(all, &Entry::label, "label");
  const auto folders = Values(train, &Entry::folder, "owner");
  if (options.limit > 0 && options.limit < static_cast<int>(train.size())) {
    const auto places = Places(train, &Entry::label, labels);
    train = Choose(train, LimitIndices(places, static_cast<int>(train.size()), options.limit));
  }

  Decoder decoder(options.size > 0 ? options.size : kDefaultSize, options.skip);
  Dataset dataset;
  dataset.train.images = decoder.DecodeAll(train);
  dataset.test.images = decoder.DecodeAll(test);
  if (train.empty()) throw DataError("{}: not one readable image", Printable(root.string()));
  dataset.train.labels = Places(train, &Entry::label, labels);
  dataset.test.labels = Places(test, &Entry::label, labels);
  dataset.train.folders = Places(train, &Entry::folder, folders);
  for (const auto& entry : train) dataset.train.files.push_back(entry.file);
  for (const auto& entry : test) dataset.test.files.push_back(entry.file);
  dataset.label_names = Shown(labels);
  dataset.folder_names = Shown(folders);
  return dataset;
}

}  // namespace kindred
