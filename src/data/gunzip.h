// gzip files, with a cap on what they unpack to.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"

namespace kindred {

// Of one file. bgzip, which makes the most, ends a member after 64 KiB: this is 6 GiB of it.
inline constexpr int kMostMembers = 100'000;

// Whether the bytes begin as gzip does.
bool IsGzip(std::span<const uint8_t> bytes);

// The unpacked content of all members, checked against gzip's own checksums. Throws a data error
// when the stream is damaged, cut short, followed by other bytes, or holds more than `limit` bytes
// or more than kMostMembers. `name` is for messages.
Bytes Gunzip(std::span<const uint8_t> bytes, uint64_t limit, const std::string& name);

}  // namespace kindred
