#include "base/embedded.h"

#include <cstddef>

#include "base/error.h"

namespace kindred {

// Made by the build (cmake/embed.cmake), one line per file.
struct Embedded {
  const char* name;
  const char *begin, *end;
};
extern const Embedded kEmbedded[];
extern const size_t kEmbeddedCount;

std::optional<std::string_view> FindEmbeddedFile(std::string_view name) {
  for (size_t i = 0; i < kEmbeddedCount; ++i) {
    const Embedded& file = kEmbedded[i];
    if (name == file.name) return {{file.begin, static_cast<size_t>(file.end - file.begin)}};
  }
  return std::nullopt;
}

std::string_view EmbeddedFile(std::string_view name) {
  const auto file = FindEmbeddedFile(name);
  Check(file.has_value(), "no such file in the program");
  return *file;
}

}  // namespace kindred
