// IDX files, the format of MNIST and Fashion-MNIST, plain or gzip.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"

namespace kindred {

// Grey images from an idx3-ubyte file's bytes. Throws a data error on a wrong magic number or a
// size that the header does not account for. `name` is for messages.
Images ParseIdxImages(std::span<const uint8_t> bytes, const std::string& name);

// Labels from an idx1-ubyte file's bytes, each below `classes`.
std::vector<int> ParseIdxLabels(std::span<const uint8_t> bytes, int classes,
                                const std::string& name);

// The bytes those two read.
Bytes SerializeIdxImages(const Images& images);
Bytes SerializeIdxLabels(std::span<const int> labels);

// The four files, MD5 of their unpacked content: training images and labels, test images and
// labels.
std::span<const PublishedFile> FashionMnistFiles();
std::span<const PublishedFile> MnistFiles();

Dataset LoadFashionMnist(const DataOptions& options);
Dataset LoadMnist(const DataOptions& options);

}  // namespace kindred
