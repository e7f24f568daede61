// Lists of images: what is accepted, written as a list, is the same list.
#include "data/image_list.h"
#include "tests/fuzz/target.h"

namespace kindred {

void Fuzz(std::span<const uint8_t> input) {
  const auto images = Accepted([&] { return ParseImageList(AsText(input), "input"); });
  if (!images) return;
  Require(!images->empty(), "an empty list");
  std::string text = "#\n";  // so that a mark of an editor in the first name stays a part of it
  for (const auto& image : *images) {
    Require(!image.file.empty(), "an image without a file");
    text += image.file + "\t" + image.label + "\t" + image.owner + "\r\n";
  }
  Require(ParseImageList(text, "written") == *images, "another list is read");
}

}  // namespace kindred
