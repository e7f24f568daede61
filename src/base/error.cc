#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace kindred {

void CheckFailed(std::string_view message, const std::source_location& place) {
  fmt::print(stderr, "kindred: internal error at {}:{}: {}\n", place.file_name(), place.line(),
             message);
  std::abort();
}

namespace {

// Bytes of the well-formed UTF-8 character that `text` begins with; 0 if there is none.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t size = first < 0x80   ? 1
                      : first < 0xc2 ? 0
                      : first < 0xe0 ? 2
                      : first < 0xf0 ? 3
                      : first < 0xf5 ? 4
                                     : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond Unicode differ in the second byte.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)) return 0;
  return size;
}

}  // namespace

std::string Printable(std::string_view text) {
  constexpr size_t kMost = 200;
  std::string result;
  while (!text.empty() && result.size() < kMost) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const size_t size = CharacterSize(text);
    if (size == 0 || byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
      text.remove_prefix(1);
    } else {
      result += text.substr(0, size);
      text.remove_prefix(size);
    }
  }
  return text.empty() ? result : result + "...";
}

std::string Shortened(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace kindred
