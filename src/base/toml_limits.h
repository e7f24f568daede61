// What TOML is not given to its parser.
#pragma once

#include <string_view>

namespace kindred {

// libtomlplusplus follows a key's parts by recursion: a key of 300,000 ends the program. Keys are
// on one line, so lines have no more dots than this.
inline constexpr int kMostDots = 1000;

// The first line that has more, counted from 1; 0: none.
int LineOfDots(std::string_view toml);

}  // namespace kindred
