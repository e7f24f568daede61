#include "base/toml_limits.h"

#include <algorithm>

namespace kindred {

bool HasTooManyDots(std::string_view toml) {
  return std::count(toml.begin(), toml.end(), '.') > kMostDots;
}

}  // namespace kindred
