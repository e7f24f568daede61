// Bytes as text, for JSON and pages.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kindred {

// RFC 4648's base64 with padding.
std::string Base64(std::span<const uint8_t> bytes);

}  // namespace kindred
