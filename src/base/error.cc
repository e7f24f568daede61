#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace kindred {

void CheckFailed(std::string_view message, const std::source_location& place) {
  fmt::print(stderr, "kindred: internal error at {}:{}: {}\n", place.file_name(), place.line(),
             message);
  std::abort();
}

std::string Printable(std::string_view text) {
  constexpr size_t kMost = 200;
  std::string result;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  if (text.size() > kMost) result += "...";
  return result;
}

}  // namespace kindred
