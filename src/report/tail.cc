#include "report/tail.h"

#include <fstream>

namespace kindred {

std::vector<std::string> Tail::Next() {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path_, error);
  if (error) return {};
  if (size < offset_) {
    auto rest = LinesOf(path_.string() + ".1");
    if (!rest.empty()) return rest;
    offset_ = 0;
  }
  return LinesOf(path_);
}

// From the offset on.
std::vector<std::string> Tail::LinesOf(const std::filesystem::path& path) {
  constexpr size_t kMost = 1 << 20;
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error || size <= offset_) return {};
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset_));
  std::string bytes(std::min<uint64_t>(kMost, size - offset_), '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(in.gcount()));
  std::vector<std::string> lines;
  size_t at = 0;
  for (size_t end; (end = bytes.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(bytes.substr(at, end - at));
  }
  if (at == 0 && bytes.size() == kMost) at = kMost;  // no line of ours is that long
  offset_ += at;
  return lines;
}

}  // namespace kindred
