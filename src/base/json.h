// JSON that keeps the order of its keys: what commands print and runs leave behind.
#pragma once

#include <nlohmann/json.hpp>

namespace kindred {

using Json = nlohmann::ordered_json;

}  // namespace kindred
