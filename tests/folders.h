// Files and folders for tests, gone when the test ends.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/image_file.h"

namespace kindred {

inline TemporaryFolder TestFolder() {
  return TemporaryFolder(std::filesystem::temp_directory_path());
}

// Everything below a folder, as paths relative to it.
inline std::set<std::string> FilesBelow(const std::filesystem::path& folder) {
  std::set<std::string> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    files.insert(entry.path().lexically_relative(folder).string());
  }
  return files;
}

// A PNG of one colour.
inline void WriteFlatPng(const std::filesystem::path& path, int height, int width, uint8_t red,
                         uint8_t green, uint8_t blue) {
  std::filesystem::create_directories(path.parent_path());
  const auto plane = static_cast<size_t>(height) * static_cast<size_t>(width);
  Bytes pixels(plane, red);
  pixels.resize(2 * plane, green);
  pixels.resize(3 * plane, blue);
  WriteFileAtomically(path, EncodePng(pixels, {3, height, width}));
}

}  // namespace kindred
