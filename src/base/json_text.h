// JSON from files and programs that may not mean well.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/json.h"

namespace kindred {

// Arrays and objects within each other: what Kindred writes has a few. What is nested a hundred
// thousand times deep would end a program that prints it, for want of stack.
inline constexpr int kMostJsonDepth = 64;

// Discarded (Json::is_discarded) when the text is no JSON, or deeper than that. Throws nothing.
Json ParseJson(std::string_view text);
Json ParseJson(std::span<const uint8_t> bytes);

}  // namespace kindred
