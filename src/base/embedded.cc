#include "base/embedded.h"

#include <cstddef>

#include "base/error.h"

namespace kindred {

// Made by the build (cmake/embed.cmake), a line a file.
struct Embedded {
  const char* name;
  const char *begin, *end;
};
extern const Embedded kEmbedded[];
extern const size_t kEmbeddedCount;

namespace {

const Embedded* Find(std::string_view name) {
  for (size_t i = 0; i < kEmbeddedCount; ++i) {
    if (name == kEmbedded[i].name) return &kEmbedded[i];
  }
  return nullptr;
}

}  // namespace

std::string_view EmbeddedFile(std::string_view name) {
  const Embedded* file = Find(name);
  Check(file != nullptr, "no such file in the program");
  return {file->begin, static_cast<size_t>(file->end - file->begin)};
}

bool HasEmbeddedFile(std::string_view name) { return Find(name) != nullptr; }

}  // namespace kindred
