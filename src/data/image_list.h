// A list of images, one line per image: path [TAB label [TAB owner]].
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kindred {

// A line of the list. Empty: not given.
struct ListedImage {
  std::string file;  // from the list's folder
  std::string label;
  std::string owner;

  bool operator==(const ListedImage&) const = default;
};

// The images of the list, at least one. Empty lines and those that begin with # are passed over, as
// is the mark that some editors put first. Throws a data error on any other line, with its number.
// `name` is for messages.
std::vector<ListedImage> ParseImageList(std::string_view text, const std::string& name);

}  // namespace kindred
