#include "data/image_folder.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/image_file.h"
#include "data/resize.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultSize = 32;
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

// Adds the image files below a folder. `open` holds the real paths of the folders above, so a link
// back to one of them is passed over; `seen` those read already.
void Walk(const fs::path& folder, std::set<fs::path>& seen, std::vector<fs::path>& files) {
  std::error_code error;
  const auto real = fs::canonical(folder, error);
  if (error || !seen.insert(real).second) return;
  fs::directory_iterator entries(folder, error);
  if (error)
    throw DataError("{}: cannot open the folder: {}", Printable(folder.string()), error.message());
  std::vector<fs::path> children;
  for (const auto& entry : entries) children.push_back(entry.path());
  std::sort(children.begin(), children.end());
  for (const auto& child : children) {
    if (child.filename().string().starts_with('.')) continue;
    const auto status = fs::status(child, error);
    if (fs::is_directory(status)) {
      Walk(child, seen, files);
    } else if (HasImageName(child)) {
      files.push_back(child);
    }
  }
}

std::vector<Entry> ListFolder(const fs::path& root) {
  std::set<fs::path> seen;
  std::vector<fs::path> files;
  Walk(root, seen, files);
  if (files.empty()) {
    throw DataError("{}: no .png, .jpg or .jpeg file in it", Printable(root.string()));
  }
  std::vector<Entry> entries;
  std::optional<size_t> depth;
  for (const auto& path : files) {
    const fs::path below = path.lexically_relative(root);
    const std::vector<fs::path> parts(below.begin(), below.end());
    if (depth.has_value() && *depth != parts.size()) {
      throw DataError(
          "{}: images lie at different depths ({} and {}); use class folders, "
          "owner/class folders, or a flat folder",
          Printable(root.string()), Printable(entries[0].file), Printable(below.string()));
    }
    depth = parts.size();
    if (parts.size() > 3) {
      throw DataError("{}: {} lies deeper than owner/class/image", Printable(root.string()),
                      Printable(below.string()));
    }
    Entry entry{.path = path, .file = below.string()};
    if (parts.size() >= 2) {
      entry.label = parts[parts.size() - 2].string();
      entry.folder = parts[0].string();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> ListFile(const fs::path& list) {
  std::ifstream in(list);
  if (!in) throw DataError("{}: cannot open the list", Printable(list.string()));
  std::vector<Entry> entries;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    if (fields.size() > 3 || fields[0].empty()) {
      throw DataError("{}:{}: must be: path, or path TAB label, or path TAB label TAB owner",
                      Printable(list.string()), number);
    }
    fields.resize(3);
    entries.push_back({.path = list.parent_path() / fields[0],
                       .file = fields[0],
                       .label = fields[1],
                       .folder = fields[2].empty() ? fields[1] : fields[2]});
  }
  if (entries.empty()) throw DataError("{}: the list names no image", Printable(list.string()));
  return entries;
}

// Decodes the entries one by one into a split; labels and folders become places in sorted lists.
class Reader {
 public:
  Reader(int size, int skip) : size_(size), skip_(skip) {}

  // All entries must be known before the first split is read: the names come from all of them.
  void AddNames(const std::vector<Entry>& entries) {
    const auto labeled = [](const Entry& entry) { return !entry.label.empty(); };
    const bool some = std::any_of(entries.begin(), entries.end(), labeled);
    if (some && !std::all_of(entries.begin(), entries.end(), labeled)) {
      const auto& missing = *std::find_if_not(entries.begin(), entries.end(), labeled);
      throw DataError("{}: has no label, though others have", Printable(missing.file));
    }
    for (const auto& entry : entries) {
      if (!entry.label.empty()) labels_.emplace(entry.label, 0);
      if (!entry.folder.empty()) folders_.emplace(entry.folder, 0);
    }
  }

  Split Read(const std::vector<Entry>& entries) {
    Number(labels_);
    Number(folders_);
    Split split;
    split.images.channels = 3;
    split.images.height = split.images.width = size_;
    const size_t bytes = split.images.ImageSize();
    Progress progress("reading images", entries.size(), "images");
    for (size_t i = 0; i < entries.size(); ++i) {
      progress.At(i);
      const Entry& entry = entries[i];
      split.images.pixels.resize((static_cast<size_t>(split.images.count) + 1) * bytes);
      if (!Decode(entry, std::span(split.images.pixels).last(bytes))) continue;
      ++split.images.count;
      if (!entry.label.empty()) split.labels.push_back(labels_.at(entry.label));
      if (!entry.folder.empty()) split.folders.push_back(folders_.at(entry.folder));
      split.files.push_back(entry.file);
    }
    split.images.pixels.resize(static_cast<size_t>(split.images.count) * bytes);
    return split;
  }

  static std::vector<std::string> Names(const std::map<std::string, int>& names) {
    std::vector<std::string> result;
    for (const auto& [name, place] : names) result.push_back(Printable(name));
    return result;
  }
  std::vector<std::string> LabelNames() const { return Names(labels_); }
  std::vector<std::string> FolderNames() const { return Names(folders_); }

 private:
  static void Number(std::map<std::string, int>& names) {
    int place = 0;
    for (auto& [name, number] : names) number = place++;
  }

  // False: unreadable, and within the budget of data.skip.
  bool Decode(const Entry& entry, std::span<uint8_t> out) {
    try {
      const Bytes bytes = ReadFile(entry.path, kImageFileLimit);
      const DecodedImage image = DecodeImage(bytes, size_, entry.path.string());
      ResizeToSquare(image.pixels, image.shape, size_, out);
      return true;
    } catch (const Error& error) {
      if (skipped_ == skip_) {
        throw DataError("{}; data.skip={} leaves out {} unreadable image{}", error.what(),
                        skip_ + 1, skip_ == 0 ? "one" : "so many", skip_ == 0 ? "" : "s");
      }
      ++skipped_;
      spdlog::warn("left out: {}", error.what());
      return false;
    }
  }

  int size_;
  int skip_;
  int skipped_ = 0;
  std::map<std::string, int> labels_, folders_;
};

// Moves every so many-th image of each class to the test set, so that `share` of them are there.
void HoldOut(Dataset& dataset, double share) {
  std::map<int, int> seen;
  std::vector<int> train, test;
  for (int i = 0; i < dataset.train.images.count; ++i) {
    const auto& labels = dataset.train.labels;
    const int rank = seen[labels.empty() ? 0 : labels[static_cast<size_t>(i)]]++;
    const bool held = static_cast<int>((rank + 1) * share) > static_cast<int>(rank * share);
    (held ? test : train).push_back(i);
  }
  dataset.test = Select(dataset.train, test);
  dataset.train = Select(dataset.train, train);
}

}  // namespace

Dataset LoadImageFolder(const DataOptions& options) {
  if (options.path.empty()) throw UsageError("data.path is empty: say where the images are");
  const fs::path root = options.path;
  if (!fs::exists(root)) throw DataError("{}: no such folder or list", Printable(root.string()));
  std::vector<Entry> train, test;
  if (!fs::is_directory(root)) {
    train = ListFile(root);
  } else if (fs::is_directory(root / "train") && fs::is_directory(root / "test")) {
    train = ListFolder(root / "train");
    test = ListFolder(root / "test");
  } else {
    train = ListFolder(root);
  }

  Reader reader(options.size > 0 ? options.size : kDefaultSize, options.skip);
  reader.AddNames(train);
  reader.AddNames(test);
  Dataset dataset;
  dataset.train = reader.Read(train);
  dataset.test = reader.Read(test);
  if (dataset.train.images.count == 0) {
    throw DataError("{}: not one readable image", Printable(root.string()));
  }
  dataset.label_names = reader.LabelNames();
  dataset.folder_names = reader.FolderNames();
  if (test.empty() && options.holdout > 0) HoldOut(dataset, options.holdout);
  return dataset;
}

}  // namespace kindred
