#include "data/dataset.h"

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "base/error.h"
#include "data/cifar.h"
#include "data/idx.h"
#include "data/image_folder.h"
#include "data/shapes.h"

namespace kindred {
namespace {

// The usual statistics of each training set; `kindred data inspect` computes them anew.
constexpr Normalization kCifar10 = {{.4914f, .4822f, .4465f}, {.2470f, .2435f, .2616f}};
constexpr Normalization kCifar100 = {{.5071f, .4865f, .4409f}, {.2673f, .2564f, .2762f}};
constexpr Normalization kFashionMnist = {{.2860f, .2860f, .2860f}, {.3530f, .3530f, .3530f}};
constexpr Normalization kMnist = {{.1307f, .1307f, .1307f}, {.3081f, .3081f, .3081f}};
constexpr Normalization kImageNet = {{.485f, .456f, .406f}, {.229f, .224f, .225f}};
constexpr Normalization kHalf = {{.5f, .5f, .5f}, {.25f, .25f, .25f}};

// The table: help texts, `kindred list` and the tests go through it.
constexpr DatasetKind kKinds[] = {
    {"cifar10", "CIFAR-10, official binary files: 60,000 colour images of 32x32, 10 classes",
     LoadCifar10, kCifar10, 32, 10},
    {"cifar100", "CIFAR-100, official binary files: 60,000 colour images of 32x32, 100 classes",
     LoadCifar100, kCifar100, 32, 100},
    {"fashion-mnist", "Fashion-MNIST, IDX files: 70,000 grey images of 28x28, 10 classes",
     LoadFashionMnist, kFashionMnist, 28, 10},
    {"mnist", "MNIST, IDX files: 70,000 grey images of 28x28, 10 digits", LoadMnist, kMnist, 28,
     10},
    {"folder", "PNG and JPEG images: class folders, owner/class folders, a flat folder or a list",
     LoadImageFolder, kImageNet, 0, 0},
    {"shapes", "drawn shapes in 10 classes, made on the spot: no files needed", LoadShapes, kHalf,
     32, 10},
};

const DatasetKind& FindKind(const std::string& name) {
  const auto at = std::find_if(std::begin(kKinds), std::end(kKinds),
                               [&](const DatasetKind& kind) { return kind.name == name; });
  if (at == std::end(kKinds)) throw UsageError("data.name = {}: no such dataset", Printable(name));
  return *at;
}

void Override(std::array<float, 3>& values, const std::vector<double>& given, int channels,
              const char* key) {
  if (given.empty()) return;
  if (static_cast<int>(given.size()) != channels) {
    throw UsageError("data.{}: {} numbers, but the images have {} channels", key, given.size(),
                     channels);
  }
  for (size_t c = 0; c < given.size(); ++c) values[c] = static_cast<float>(given[c]);
}

Normalization NormalizationFor(const DatasetKind& kind, const DataOptions& options) {
  Normalization result = kind.normalization;
  if (options.channels == 1) {  // grey of a colour dataset: green is nearest to luma
    result.mean[0] = result.mean[1];
    result.std[0] = result.std[1];
  }
  Override(result.mean, options.mean, options.channels, "mean");
  Override(result.std, options.std, options.channels, "std");
  return result;
}

void AddToDigest(Digest& digest, const Split& split) {
  const Images& images = split.images;
  digest.Add(int64_t{images.count}).Add(int64_t{images.channels});
  digest.Add(int64_t{images.height}).Add(int64_t{images.width}).Add(images.pixels);
  digest.Add(static_cast<int64_t>(split.labels.size()));
  for (const int label : split.labels) digest.Add(int64_t{label});
}

}  // namespace

void Bind(Config& config, DataOptions& options) {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  config.Bind("data.name", &options.name, "dataset; `kindred list datasets` names them",
              {.choices = names});
  config.Bind("data.path", &options.path,
              "folder of its files; empty: where `kindred data get` puts them",
              {.changes_result = false, .is_path = true});
  config.Bind("data.size", &options.size, "side of the images in pixels; 0: the dataset's own",
              {.least = 0, .most = 1024});
  config.Bind("data.channels", &options.channels,
              "3: grey images become three equal channels; 1: colour images become grey",
              {.least = 1, .most = 3});
  config.Bind("data.limit", &options.limit,
              "use at most so many training images, balanced over classes; 0: all", {.least = 0});
  config.Bind("data.verify", &options.verify, "CIFAR: take the official files only");
  config.Bind("data.skip", &options.skip,
              "folder: unreadable images to leave out before it is an error", {.least = 0});
  config.Bind("data.holdout", &options.holdout,
              "folder without train/ and test/: share of the images kept for testing",
              {.least = 0, .most = 0.9});
  config.Bind("data.mean", &options.mean,
              "mean per channel that images are normalised by; empty: the dataset's usual "
              "values",
              {.least = -100, .most = 100});
  config.Bind("data.std", &options.std,
              "standard deviation per channel; empty: the dataset's usual values",
              {.least = 1e-6, .most = 100});
}

std::span<const DatasetKind> DatasetKinds() { return kKinds; }

std::filesystem::path DataPath(const DataOptions& options) {
  return options.path.empty() ? CacheFolder() / options.name : std::filesystem::path(options.path);
}

std::string GetCommand(const DataOptions& options) {
  return fmt::format("kindred data get {}{}{}", options.name, options.path.empty() ? "" : " --out ",
                     Printable(options.path));
}

void Validate(const DataOptions& options) {
  if (options.channels != 1 && options.channels != 3) {
    throw UsageError("data.channels = {}: must be 1 or 3", options.channels);
  }
}

ImageKind ImageKindOf(const DataOptions& options) {
  const DatasetKind& kind = FindKind(options.name);
  Validate(options);
  const int side = options.size > 0 ? options.size : kind.side;
  if (side == 0) {
    throw UsageError("data.size = 0: say what size the images of data.name = {} are scaled to",
                     options.name);
  }
  return {options.channels, side, kind.classes, NormalizationFor(kind, options)};
}

Dataset LoadDataset(DataOptions options) {
  const DatasetKind& kind = FindKind(options.name);
  Validate(options);
  const Normalization normalization = NormalizationFor(kind, options);
  Dataset dataset = kind.load(options);
  dataset.name = kind.name;
  dataset.normalization = normalization;
  if (options.limit > 0 && options.limit < dataset.train.images.count) {
    const Split& train = dataset.train;
    dataset.train = Select(train, LimitIndices(train.labels, train.images.count, options.limit));
  }
  for (Split* split : {&dataset.train, &dataset.test}) {
    split->images = WithChannels(std::move(split->images), options.channels);
    if (options.size > 0) split->images = WithSize(std::move(split->images), options.size);
  }
  return dataset;
}

Split Select(const Split& split, std::span<const int> indices) {
  Split chosen{.images = Select(split.images, indices)};
  for (const int index : indices) {
    const auto i = static_cast<size_t>(index);
    if (!split.labels.empty()) chosen.labels.push_back(split.labels[i]);
    if (!split.folders.empty()) chosen.folders.push_back(split.folders[i]);
    if (!split.files.empty()) chosen.files.push_back(split.files[i]);
  }
  return chosen;
}

std::vector<int> LimitIndices(std::span<const int> labels, int count, int limit) {
  Check(limit <= count, "a limit above the number of images");
  std::vector<int> chosen;
  if (labels.empty()) {
    for (int64_t i = 0; i < limit; ++i) chosen.push_back(static_cast<int>(i * count / limit));
    return chosen;
  }
  std::map<int, std::vector<int>> by_class;
  for (int i = 0; i < count; ++i) by_class[labels[static_cast<size_t>(i)]].push_back(i);
  const auto wanted = static_cast<size_t>(limit);
  for (size_t rank = 0; chosen.size() < wanted; ++rank) {  // the rank-th image of each class
    for (const auto& [label, members] : by_class) {
      if (rank < members.size() && chosen.size() < wanted) chosen.push_back(members[rank]);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::string DataHash(const Dataset& dataset) {
  Digest digest;
  digest.Add(std::string_view("kindred data 1"));
  AddToDigest(digest, dataset.train);
  AddToDigest(digest, dataset.test);
  return digest.Hex();
}

}  // namespace kindred
