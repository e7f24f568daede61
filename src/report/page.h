// The page that the build made of web/: as it is, for the dashboard, or frozen with its data.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace kindred {

// Without data: it asks the server it came from.
std::string_view LivePage();

// With its data inside: one file that opens offline. Whatever the data's strings hold stays data.
std::string FrozenPage(const Json& data);

}  // namespace kindred
