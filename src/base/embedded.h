// Files that the program carries inside itself: configurations, the paper's numbers, the page.
#pragma once

#include <optional>
#include <string_view>

namespace kindred {

// The file of that name, as the build found it (CMakeLists.txt lists them): "configs/lab.toml".
// An internal error when there is none.
std::string_view EmbeddedFile(std::string_view name);

// The same for a file that may be missing.
std::optional<std::string_view> FindEmbeddedFile(std::string_view name);

}  // namespace kindred
