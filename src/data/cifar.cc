#include "data/cifar.h"

#include <sstream>

#include "base/digest.h"
#include "base/error.h"

namespace kindred {

namespace {

constexpr size_t kImageBytes = 3072;
constexpr uint64_t kNamesLimit = 1 << 20;
constexpr uint64_t kFileLimit = 1ull << 30;

constexpr PublishedFile kCifar10[] = {
    {"data_batch_1.bin", "5dd7e06a14cb22eb9f671a540d1b7c25"},
    {"data_batch_2.bin", "5ea93a67294ea407fff1d09f752e9692"},
    {"data_batch_3.bin", "942cd6a4bcdd0dd3c604fbe906cb4421"},
    {"data_batch_4.bin", "ae636b3ba5c66a11e91e8cb52e771fcb"},
    {"data_batch_5.bin", "53f37980c15c3d472c316c40844f3f0d"},
    {"test_batch.bin", "803d5f7f4d78ea53de84dbe85f74fb6d"},
};
constexpr PublishedFile kCifar100[] = {
    {"train.bin", "6172c7755cfe09b2fe270c85cebc1b15"},
    {"test.bin", "4499cfba6c016c1be1438163640a0898"},
};

// Labels and pixels of the files, in order.
Split ReadFiles(const std::filesystem::path& folder, std::span<const PublishedFile> files,
                const CifarLayout& layout, const DataOptions& options) {
  CifarRecords records;
  for (const auto& file : files) {
    const auto path = folder / file.name;
    if (!FileExists(path)) {
      throw DataError("{}: missing; `{}` fetches it", Printable(path.string()),
                      GetCommand(options));
    }
    const Bytes bytes = ReadFile(path, kFileLimit);
    ParseCifar(bytes, layout, path.string(), records);
    if (options.verify && Md5Hex(bytes) != file.md5) {
      throw DataError(
          "{}: not the official file (MD5 {}, published {}); get it again with `{}`, or use it as "
          "it is with data.verify=false",
          Printable(path.string()), Md5Hex(bytes), file.md5, GetCommand(options));
    }
  }
  return {.images = std::move(records.images), .labels = std::move(records.labels)};
}

// The lines of a file of names; "class 0" and so on unless there are as many as classes.
std::vector<std::string> ReadNames(const std::filesystem::path& path, int classes) {
  std::vector<std::string> names;
  std::istringstream in;
  if (FileExists(path)) {
    const Bytes bytes = ReadFile(path, kNamesLimit);
    in.str(std::string(bytes.begin(), bytes.end()));
  }
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(Printable(line));
  }
  if (static_cast<int>(names.size()) == classes) return names;
  names.clear();
  for (int c = 0; c < classes; ++c) names.push_back(fmt::format("class {}", c));
  return names;
}

// Where the files are: the official archive unpacks into a folder of its own.
std::filesystem::path DataFolder(const DataOptions& options, const char* unpacked_as) {
  const auto folder = DataPath(options);
  return IsFolder(folder / unpacked_as) ? folder / unpacked_as : folder;
}

Dataset Load(const DataOptions& options, const std::filesystem::path& folder,
             const CifarLayout& layout, std::span<const PublishedFile> files) {
  Dataset dataset;
  dataset.train = ReadFiles(folder, files.first(files.size() - 1), layout, options);
  dataset.test = ReadFiles(folder, files.last(1), layout, options);
  return dataset;
}

}  // namespace

void ParseCifar(std::span<const uint8_t> bytes, const CifarLayout& layout, const std::string& name,
                CifarRecords& records) {
  const size_t record = layout.RecordSize();
  if (bytes.empty() || bytes.size() % record != 0) {
    throw DataError(
        "{}: {} bytes are not a whole number of records of {}; it is cut short or is "
        "another file",
        Printable(name), bytes.size(), record);
  }
  const size_t count = bytes.size() / record;
  Images& images = records.images;
  images.channels = 3;
  images.height = images.width = 32;
  images.pixels.reserve(images.pixels.size() + count * kImageBytes);
  for (size_t i = 0; i < count; ++i) {
    const auto fields = bytes.subspan(i * record, record);
    const size_t labels = record - kImageBytes;
    const int label = fields[labels - 1];
    if (label >= layout.classes) {
      throw DataError("{}: record {} has label {}, but there are {} classes", Printable(name), i,
                      label, layout.classes);
    }
    if (layout.coarse_classes > 0) {
      if (fields[0] >= layout.coarse_classes) {
        throw DataError("{}: record {} has coarse label {}, but there are {} coarse classes",
                        Printable(name), i, fields[0], layout.coarse_classes);
      }
      records.coarse_labels.push_back(fields[0]);
    }
    records.labels.push_back(label);
    images.pixels.insert(images.pixels.end(), fields.begin() + static_cast<ptrdiff_t>(labels),
                         fields.end());
  }
  images.count += static_cast<int>(count);
}

Bytes SerializeCifar(const CifarRecords& records, const CifarLayout& layout) {
  Bytes bytes;
  bytes.reserve(static_cast<size_t>(records.images.count) * layout.RecordSize());
  for (int i = 0; i < records.images.count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (layout.coarse_classes > 0) bytes.push_back(static_cast<uint8_t>(records.coarse_labels[at]));
    bytes.push_back(static_cast<uint8_t>(records.labels[at]));
    const auto image = records.images[i];
    bytes.insert(bytes.end(), image.begin(), image.end());
  }
  return bytes;
}

std::span<const PublishedFile> Cifar10Files() { return kCifar10; }
std::span<const PublishedFile> Cifar100Files() { return kCifar100; }

Dataset LoadCifar10(const DataOptions& options) {
  Dataset dataset =
      Load(options, DataFolder(options, "cifar-10-batches-bin"), kCifar10Layout, kCifar10);
  dataset.label_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                         "dog",      "frog",       "horse", "ship", "truck"};
  return dataset;
}

Dataset LoadCifar100(const DataOptions& options) {
  const auto folder = DataFolder(options, "cifar-100-binary");
  Dataset dataset = Load(options, folder, kCifar100Layout, kCifar100);
  dataset.label_names = ReadNames(folder / "fine_label_names.txt", kCifar100Layout.classes);
  return dataset;
}

}  // namespace kindred
