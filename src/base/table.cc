#include "base/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display_width.h"

namespace kindred {
namespace {

bool IsNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-%x") == std::string::npos;
}

}  // namespace

std::string TextTable(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  const size_t columns = rows[0].size();
  std::vector<size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, rows.size() > 1);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < std::min(columns, rows[r].size()); ++c) {
      widths[c] = std::max(widths[c], DisplayWidth(rows[r][c]));
      if (r > 0 && !rows[r][c].empty() && !IsNumber(rows[r][c])) numeric[c] = false;
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < std::min(columns, row.size()); ++c) {
      const std::string gap(widths[c] - DisplayWidth(row[c]), ' ');
      if (c > 0) line += "  ";
      line += numeric[c] ? gap + row[c] : row[c] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace kindred
