#include "partition/plot.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kindred {
namespace {

std::string Escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// A name, cut where it would take too much room.
std::string Shown(const std::string& name) { return Shortened(name, 36); }

}  // namespace

std::string PartitionSvg(const Partition& partition, const Dataset& dataset,
                         const std::string& title) {
  const auto counts = ClassCounts(partition, dataset.train, dataset.Classes());
  const size_t columns = counts.empty() ? 1 : counts[0].size();
  int largest = 1;
  for (const auto& row : counts)
    largest = std::max(largest, *std::max_element(row.begin(), row.end()));

  // Many classes or clients get smaller cells, and numbers only where they fit.
  const double cell =
      std::clamp(900.0 / static_cast<double>(std::max(columns, counts.size())), 9.0, 44.0);
  const bool numbers = cell >= 30;
  const double font = std::clamp(cell * 0.36, 7.0, 12.0);
  // Room for the longest name that is shown, at about .6 of the font a letter.
  size_t client_letters = 0, class_letters = 6;
  for (const auto& name : partition.names)
    client_letters = std::max(client_letters, Shown(name).size());
  for (const auto& name : dataset.label_names)
    class_letters = std::max(class_letters, Shown(name).size());
  const double left = 24 + 0.6 * font * static_cast<double>(client_letters);
  const double top = 50 + 0.5 * font * static_cast<double>(class_letters);
  const double width = left + cell * static_cast<double>(columns) +
                       std::max(110.0, 0.45 * font * static_cast<double>(class_letters));
  const double height = top + cell * static_cast<double>(counts.size()) + 24;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"{2:.1f}\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"14\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{3}</text>\n",
      width, height, font, Escaped(title));
  for (size_t l = 0; l < columns; ++l) {
    const double x = left + cell * (static_cast<double>(l) + 0.5);
    const std::string name = dataset.Classes() > 0 ? dataset.label_names[l] : "images";
    svg += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-50)\">{}</text>\n",
                       x + font / 2, top - 8, Escaped(Shown(name)));
  }
  for (size_t c = 0; c < counts.size(); ++c) {
    const double y = top + cell * (static_cast<double>(c) + 0.5);
    svg += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e4e4e4\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, left + cell * static_cast<double>(columns), y, y, left - 10, y + font / 3,
        Escaped(Shown(partition.names[c])));
    for (size_t l = 0; l < columns; ++l) {
      if (counts[c][l] == 0) continue;
      const double x = left + cell * (static_cast<double>(l) + 0.5);
      const double radius = 0.47 * cell * std::sqrt(static_cast<double>(counts[c][l]) / largest);
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.2f}\" fill=\"#9ecae9\"/>\n", x,
                         y, std::max(radius, 0.6));
      if (numbers) {
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
                           y + font / 3, counts[c][l]);
      }
    }
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#555\">{} images</text>\n",
                       left + cell * static_cast<double>(columns) + 12, y + font / 3,
                       partition.clients[c].size());
  }
  return svg + "</svg>\n";
}

}  // namespace kindred
