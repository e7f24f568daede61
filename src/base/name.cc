#include "base/name.h"

#include <algorithm>

namespace kindred {

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > 64 || text == "." || text == "..") return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace kindred
