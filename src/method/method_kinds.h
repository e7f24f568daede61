// The table of methods, the part that needs no LibTorch: names, papers, options.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "method/method_options.h"

namespace kindred {

// An entry of the table. To add a method, write its file, one such line in method_kinds.cc and its
// maker in method.cc.
struct MethodKind {
  const char* name;
  const char* reference;  // paper, venue, year
  const char* summary;
  std::array<const char*, 2> tables = {};  // sections of a configuration that it reads
  void (*bind)(Config& config, MethodOptions& options) = nullptr;  // null: no table of its own
  // What a result must name beside the method, such as other images it learned from; null: nothing.
  std::string (*note)(const MethodOptions& options) = nullptr;
  std::array<const char*, 5> metrics = {};  // what its rounds report, beside what all report
};

std::span<const MethodKind> MethodKinds();

// What a result must name beside the method; empty: nothing.
std::string NoteOf(const MethodOptions& options);

// Every name that a client's report of this method may have. A server takes no other: a hostile
// client would fill files and page with names of its own.
std::set<std::string> MetricNamesOf(const std::string& method);

// Sections of a configuration that only other methods read: they change nothing in a run of it.
std::vector<std::string> TablesOfOthers(const std::string& method);

}  // namespace kindred
