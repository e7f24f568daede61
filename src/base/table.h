// A text table with aligned columns, for people.
#pragma once

#include <string>
#include <vector>

namespace kindred {

// The first row is the heading. Columns whose cells are all numbers are set to the right. Rows may
// be shorter than the heading. Ends with a newline.
std::string TextTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace kindred
