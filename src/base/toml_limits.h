// What TOML is not given to its parser.
#pragma once

#include <string_view>

namespace kindred {

// libtomlplusplus follows the parts of keys by recursion: some 40,000 of them within each other end
// the program. Each needs a dot.
inline constexpr int kMostDots = 5000;

bool HasTooManyDots(std::string_view toml);

}  // namespace kindred
