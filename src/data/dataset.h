// One value for every dataset, and the table of the datasets there are.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "data/images.h"

namespace kindred {

// [data]
struct DataOptions {
  std::string name = "shapes";  // a name from the table
  std::string path;             // empty: where `kindred data get` puts it
  int size = 0;                 // side of the images in pixels; 0: the dataset's own
  int channels = 3;             // 3: grey is replicated; 1: everything is grey
  int limit = 0;                // at most so many training images (shapes: just so many); 0: all
  bool verify = true;           // CIFAR: the files must be the official ones
  int skip = 0;                 // folder: how many unreadable images may be left out
  double holdout = 0;           // folder without train/ and test/: share of images kept for testing
  std::vector<double> mean;     // normalisation, a number per channel; empty: the dataset's own
  std::vector<double> std;
  uint32_t draw = 0;  // shapes: which drawing the training images are; 1 is the test images
};

void Bind(Config& config, DataOptions& options);

// Images with what is known about each. Labels are for evaluation and for making partitions: no
// unsupervised training step sees them.
struct Split {
  Images images;
  std::vector<int> labels;         // empty: unlabeled
  std::vector<int> folders;        // place in Dataset::folder_names; empty: not from folders
  std::vector<std::string> files;  // path below the dataset's folder; empty: not from files
};

// Subtracted from and divided into pixels scaled to [0, 1], a number per channel.
struct Normalization {
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> std = {1, 1, 1};
};

struct Dataset {
  std::string name;
  Split train, test;
  std::vector<std::string> label_names;   // by label
  std::vector<std::string> folder_names;  // by folder, for the partition by_folder
  Normalization normalization;

  int Classes() const { return static_cast<int>(label_names.size()); }
};

// A published file: its name and the MD5 of its (unpacked) content.
struct PublishedFile {
  const char* name;
  const char* md5;
};

// An entry of the table: to add a dataset, write its file and one such line in dataset.cc.
struct DatasetKind {
  const char* name;
  const char* summary;
  // Reads the dataset. What options ask for beyond that (channels, size, limit) LoadDataset sees
  // to, unless the loader has done it.
  Dataset (*load)(const DataOptions& options);
  Normalization normalization;  // per channel; for grey data all three are equal
  int side;                     // of its images, which are square; 0: any
  int classes;                  // 0: any
};

std::span<const DatasetKind> DatasetKinds();

// Where the dataset's files are: data.path, or the folder of that name in the cache.
std::filesystem::path DataPath(const DataOptions& options);

// The command that fetches the dataset to where it is looked for.
std::string GetCommand(const DataOptions& options);

// Throws a usage error when options cannot be.
void Validate(const DataOptions& options);

// What images of the configured dataset are like, without reading any: for a coordinator, which has
// none. Throws a usage error when the options do not say it.
struct ImageKind {
  int channels = 3, side = 32;
  int classes = 0;  // 0: not known
  Normalization normalization;
};
ImageKind ImageKindOf(const DataOptions& options);

// Reads the dataset and brings it to options.channels, options.size and options.limit. Throws a
// data error, one line, when a file is missing, damaged or not what it claims to be.
Dataset LoadDataset(DataOptions options);

// The chosen part of a split, in the order of the indices.
Split Select(const Split& split, std::span<const int> indices);

// `limit` <= count indices in rising order, as evenly over the classes as possible and the first of
// each; without labels, spread evenly over the whole.
std::vector<int> LimitIndices(std::span<const int> labels, int count, int limit);

// BLAKE2b over shape, pixels and labels of both splits.
std::string DataHash(const Dataset& dataset);

}  // namespace kindred
