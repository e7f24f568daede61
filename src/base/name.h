// Names that come from people and peers and end up in paths, logs and tables.
#pragma once

#include <string_view>

namespace kindred {

// Whether the text is a name: 1 to 64 of [A-Za-z0-9._-], and neither "." nor "..". A name is never
// a path and is shown as it is.
bool IsName(std::string_view text);

}  // namespace kindred
