// How many columns of a terminal a text takes.
#pragma once

#include <string>
#include <string_view>

namespace kindred {

// Columns of UTF-8 text without control characters: 2 for a wide character (Chinese, emoji), 0 for
// a combining accent, 1 for others and for stray bytes. Where terminals differ, the larger number.
size_t DisplayWidth(std::string_view text);

// As much of the text's beginning as fits into so many columns, in whole characters.
std::string CutToWidth(std::string_view text, size_t columns);

}  // namespace kindred
