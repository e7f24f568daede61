#include "data/image_list.h"

#include <sstream>

#include "base/error.h"

namespace kindred {

std::vector<ListedImage> ParseImageList(std::string_view text, const std::string& name) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::istringstream in{std::string(text)};
  std::vector<ListedImage> images;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    if (fields.size() > 3 || fields[0].empty()) {
      throw DataError("{}:{}: must be: path, or path TAB label, or path TAB label TAB owner",
                      Printable(name), number);
    }
    fields.resize(3);
    images.push_back({.file = fields[0], .label = fields[1], .owner = fields[2]});
  }
  if (images.empty()) throw DataError("{}: the list names no image", Printable(name));
  return images;
}

}  // namespace kindred
