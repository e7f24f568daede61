// A scatter plot, as SVG or PNG.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace kindred {

enum class PictureKind { kSvg, kPng };

struct Scatter {
  at::Tensor points;               // [N, 2] double
  std::vector<int> groups;         // a number a point, or empty: all alike
  std::vector<std::string> names;  // of the groups; shown as they are, whatever is in them
  std::string title;
};

// Throws a usage error unless the name ends in .svg or .png.
PictureKind PictureKindOf(const std::string& name);

Bytes DrawScatter(const Scatter& scatter, PictureKind kind);

}  // namespace kindred
