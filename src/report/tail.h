// Lines that are added to a file while it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kindred {

class Tail {
 public:
  Tail(std::filesystem::path path, uint64_t offset) : path_(std::move(path)), offset_(offset) {}

  // Whole lines since the last call, at most about a megabyte of them. A file that became shorter
  // is read from its beginning again, after what is left of FILE.1, as which a full log goes on. A
  // missing one has no lines.
  std::vector<std::string> Next();

  uint64_t offset() const { return offset_; }

 private:
  std::vector<std::string> LinesOf(const std::filesystem::path& path);

  std::filesystem::path path_;
  uint64_t offset_;
};

}  // namespace kindred
