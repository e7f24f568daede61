#include "base/display_width.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kindred {
namespace {

// First and last code points of wide characters, in rising order. Blocks of symbols are taken
// whole: some of theirs are narrow, and which ones depends on the terminal.
constexpr std::array<std::pair<char32_t, char32_t>, 13> kWide = {{{0x1100, 0x115f},
                                                                  {0x231a, 0x23ff},
                                                                  {0x25fd, 0x27bf},
                                                                  {0x2b00, 0x2bff},
                                                                  {0x2e80, 0x4dbf},
                                                                  {0x4dc0, 0xa4cf},
                                                                  {0xa960, 0xa97f},
                                                                  {0xac00, 0xd7a3},
                                                                  {0xf900, 0xfaff},
                                                                  {0xfe10, 0xfe6f},
                                                                  {0xff00, 0xff60},
                                                                  {0xffe0, 0xffe6},
                                                                  {0x1f000, 0x3fffd}}};

struct Character {
  size_t bytes, columns;
};

size_t ColumnsOf(char32_t code) {
  if (code >= 0x300 && code <= 0x36f) return 0;
  const auto holds = [&](const auto& range) { return code >= range.first && code <= range.second; };
  return std::any_of(kWide.begin(), kWide.end(), holds) ? 2 : 1;
}

// The character that `text` begins with.
Character FirstOf(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = byte(0) < 0xc2 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (size == 1 || size > text.size()) return {1, 1};
  char32_t code = byte(0) & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {1, 1};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  return {size, ColumnsOf(code)};
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character first = FirstOf(text);
    columns += first.columns;
    text.remove_prefix(first.bytes);
  }
  return columns;
}

std::string CutToWidth(std::string_view text, size_t columns) {
  size_t end = 0;
  while (end < text.size()) {
    const Character next = FirstOf(text.substr(end));
    if (next.columns > columns) break;
    columns -= next.columns;
    end += next.bytes;
  }
  return std::string(text.substr(0, end));
}

}  // namespace kindred
