// Files out of tar archives, compressed or not, in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"

namespace kindred {

// File names, without folders, and their content.
using FileSet = std::map<std::string, Bytes>;

// The regular files of the archive whose last path component is in `wanted`; others are passed
// over, so no path from the archive is ever used. Throws a data error when the archive is damaged
// or a wanted file is larger than `limit` bytes.
FileSet ReadArchive(const std::filesystem::path& archive, const std::vector<std::string>& wanted,
                    uint64_t limit);

}  // namespace kindred
