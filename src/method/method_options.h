// [method] and one table per method: which it is, and its numbers.
#pragma once

#include <any>
#include <list>
#include <string>

#include "base/config.h"

namespace kindred {

// Nothing here knows a method: each declares its own table of options, a struct, and its Bind in
// its own header.
struct MethodOptions {
  std::string name = "simclr";      // the best at a small budget: results/comparison.md
  std::list<std::any> tables = {};  // structs of different types, where they are bound to stay

  // The table of that type; with its defaults where none was given.
  template <class Table>
  Table& Of() {
    for (auto& each : tables) {
      if (auto* table = std::any_cast<Table>(&each)) return *table;
    }
    return *std::any_cast<Table>(&tables.emplace_back(Table()));
  }

  template <class Table>
  Table Of() const {
    for (const auto& each : tables) {
      if (const auto* table = std::any_cast<Table>(&each)) return *table;
    }
    return {};
  }
};

// method.name, and the tables of all methods.
void Bind(Config& config, MethodOptions& options);

}  // namespace kindred
