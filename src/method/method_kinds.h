// The table of methods, the part that needs no LibTorch: names, papers, options.
#pragma once

#include <span>

#include "base/config.h"
#include "method/method_options.h"

namespace kindred {

// An entry of the table. To add a method, write its file, one such line in method_kinds.cc and its
// maker in method.cc.
struct MethodKind {
  const char* name;
  const char* reference;  // paper, venue, year
  const char* summary;
  void (*bind)(Config& config, MethodOptions& options) = nullptr;  // null: no table of its own
};

std::span<const MethodKind> MethodKinds();

}  // namespace kindred
