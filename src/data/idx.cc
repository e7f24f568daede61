#include "data/idx.h"

#include "base/error.h"
#include "data/gunzip.h"

namespace kindred {
namespace {

constexpr uint64_t kFileLimit = 1ull << 30;
constexpr uint32_t kImagesMagic = 0x00000803;  // bytes, three axes
constexpr uint32_t kLabelsMagic = 0x00000801;  // bytes, one axis
constexpr uint32_t kMostSide = 1024;

constexpr PublishedFile kFashionMnist[] = {
    {"train-images-idx3-ubyte", "f4a8712d7a061bf5bd6d2ca38dc4d50a"},
    {"train-labels-idx1-ubyte", "9018921c3c673c538a1fc5bad174d6f9"},
    {"t10k-images-idx3-ubyte", "8181f5470baa50b63fa0f6fddb340f0a"},
    {"t10k-labels-idx1-ubyte", "15d484375f8d13e6eb1aabb0c3f46965"},
};
constexpr PublishedFile kMnist[] = {
    {"train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"},
    {"train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"},
    {"t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea"},
    {"t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"},
};

uint32_t BigEndian(std::span<const uint8_t> bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 |
         uint32_t{bytes[at + 3]};
}

void PutBigEndian(Bytes& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<uint8_t>(value >> shift));
}

// The axes of a header whose magic number must be `magic`; the rest of the file must be their
// product.
std::vector<uint32_t> ParseHeader(std::span<const uint8_t> bytes, uint32_t magic,
                                  const std::string& name) {
  const size_t axes = magic & 0xff;
  if (bytes.size() < 4 + 4 * axes) {
    throw DataError("{}: {} bytes are too few for an IDX header", Printable(name), bytes.size());
  }
  if (BigEndian(bytes, 0) != magic) {
    throw DataError("{}: begins with {:08x}, but {:08x} was expected: not this kind of IDX file",
                    Printable(name), BigEndian(bytes, 0), magic);
  }
  std::vector<uint32_t> sizes;
  unsigned __int128 product = 1;  // three factors of 32 bits cannot overflow it
  for (size_t i = 0; i < axes; ++i) {
    sizes.push_back(BigEndian(bytes, 4 + 4 * i));
    product *= sizes.back();
  }
  const size_t content = bytes.size() - 4 - 4 * axes;
  if (product != content) {
    throw DataError("{}: {}: its header announces {} bytes of content, {} are there",
                    Printable(name), product > content ? "cut short" : "too long",
                    static_cast<double>(product), content);
  }
  return sizes;
}

// The file, plain or as .gz, unpacked.
Bytes ReadMaybeGzip(const std::filesystem::path& folder, const PublishedFile& file,
                    const DataOptions& options) {
  auto path = folder / file.name;
  if (!FileExists(path)) path += ".gz";
  if (!FileExists(path)) {
    throw DataError("{}: missing, with and without .gz; `{}` fetches it",
                    Printable((folder / file.name).string()), GetCommand(options));
  }
  Bytes bytes = ReadFile(path, kFileLimit);
  return IsGzip(bytes) ? Gunzip(bytes, kFileLimit, path.string()) : bytes;
}

Split ReadPair(const std::filesystem::path& folder, std::span<const PublishedFile> pair,
               int classes, const DataOptions& options) {
  Split split;
  const std::string images = (folder / pair[0].name).string();
  const std::string labels = (folder / pair[1].name).string();
  split.images = ParseIdxImages(ReadMaybeGzip(folder, pair[0], options), images);
  split.labels = ParseIdxLabels(ReadMaybeGzip(folder, pair[1], options), classes, labels);
  if (static_cast<int>(split.labels.size()) != split.images.count) {
    throw DataError("{}: {} labels for the {} images beside it", Printable(labels),
                    split.labels.size(), split.images.count);
  }
  return split;
}

Dataset Load(const DataOptions& options, std::span<const PublishedFile> files,
             std::vector<std::string> label_names) {
  const auto folder = DataPath(options);
  Dataset dataset;
  dataset.label_names = std::move(label_names);
  dataset.train = ReadPair(folder, files.first(2), dataset.Classes(), options);
  dataset.test = ReadPair(folder, files.last(2), dataset.Classes(), options);
  const Images &train = dataset.train.images, &test = dataset.test.images;
  if (train.height != test.height || train.width != test.width) {
    throw DataError("{}: training images are {}x{}, test images {}x{}", Printable(folder.string()),
                    train.height, train.width, test.height, test.width);
  }
  return dataset;
}

}  // namespace

Images ParseIdxImages(std::span<const uint8_t> bytes, const std::string& name) {
  const auto sizes = ParseHeader(bytes, kImagesMagic, name);
  if (sizes[0] == 0) throw DataError("{}: holds no image", Printable(name));
  if (sizes[1] == 0 || sizes[1] > kMostSide || sizes[2] == 0 || sizes[2] > kMostSide) {
    throw DataError("{}: {} images of {}x{}: sides must be 1 to {}", Printable(name), sizes[0],
                    sizes[1], sizes[2], kMostSide);
  }
  Images images;
  images.count = static_cast<int>(sizes[0]);
  images.channels = 1;
  images.grey = true;
  images.height = static_cast<int>(sizes[1]);
  images.width = static_cast<int>(sizes[2]);
  images.pixels.assign(bytes.begin() + 16, bytes.end());
  return images;
}

std::vector<int> ParseIdxLabels(std::span<const uint8_t> bytes, int classes,
                                const std::string& name) {
  ParseHeader(bytes, kLabelsMagic, name);
  const std::vector<int> labels(bytes.begin() + 8, bytes.end());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes) {
      throw DataError("{}: image {} has label {}, but there are {} classes", Printable(name), i,
                      labels[i], classes);
    }
  }
  return labels;
}

Bytes SerializeIdxImages(const Images& images) {
  Bytes bytes;
  PutBigEndian(bytes, kImagesMagic);
  for (const int size : {images.count, images.height, images.width}) {
    PutBigEndian(bytes, static_cast<uint32_t>(size));
  }
  bytes.insert(bytes.end(), images.pixels.begin(), images.pixels.end());
  return bytes;
}

Bytes SerializeIdxLabels(std::span<const int> labels) {
  Bytes bytes;
  PutBigEndian(bytes, kLabelsMagic);
  PutBigEndian(bytes, static_cast<uint32_t>(labels.size()));
  for (const int label : labels) bytes.push_back(static_cast<uint8_t>(label));
  return bytes;
}

std::span<const PublishedFile> FashionMnistFiles() { return kFashionMnist; }
std::span<const PublishedFile> MnistFiles() { return kMnist; }

Dataset LoadFashionMnist(const DataOptions& options) {
  return Load(options, kFashionMnist,
              {"t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker",
               "bag", "ankle boot"});
}

Dataset LoadMnist(const DataOptions& options) {
  return Load(options, kMnist, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
}

}  // namespace kindred
