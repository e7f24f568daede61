// CIFAR-10 and CIFAR-100 in their official binary layout.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"

namespace kindred {

// How a record begins: CIFAR-10 with a label byte, CIFAR-100 with a coarse and a fine one. Then
// 3072 bytes: 32x32 red, green, blue.
struct CifarLayout {
  int classes = 10;
  int coarse_classes = 0;  // 0: records have no coarse label

  size_t RecordSize() const { return (coarse_classes > 0 ? 2 : 1) + 3072; }
};

inline constexpr CifarLayout kCifar10Layout = {.classes = 10, .coarse_classes = 0};
inline constexpr CifarLayout kCifar100Layout = {.classes = 100, .coarse_classes = 20};

struct CifarRecords {
  Images images;
  std::vector<int> labels;
  std::vector<int> coarse_labels;  // empty without them
};

// Appends a file's records. `name` is for messages. Throws a data error on a broken record or a
// label out of range.
void ParseCifar(std::span<const uint8_t> bytes, const CifarLayout& layout, const std::string& name,
                CifarRecords& records);

// The bytes that ParseCifar reads: official files come back bit for bit.
Bytes SerializeCifar(const CifarRecords& records, const CifarLayout& layout);

// The training batches in order, then the test file.
std::span<const PublishedFile> Cifar10Files();
std::span<const PublishedFile> Cifar100Files();

Dataset LoadCifar10(const DataOptions& options);
Dataset LoadCifar100(const DataOptions& options);

}  // namespace kindred
