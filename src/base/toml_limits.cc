#include "base/toml_limits.h"

namespace kindred {

int LineOfDots(std::string_view toml) {
  int line = 1, dots = 0;
  for (const char c : toml) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      return line;
    }
  }
  return 0;
}

}  // namespace kindred
