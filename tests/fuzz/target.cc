#include "tests/fuzz/target.h"

#include <fstream>

namespace kindred {

const std::filesystem::path& FuzzFolder() {
  static const TemporaryFolder folder(IsFolder("/dev/shm")
                                          ? std::filesystem::path("/dev/shm")
                                          : std::filesystem::temp_directory_path());
  return folder.path();
}

std::filesystem::path WriteFuzzFile(const std::string& name, std::string_view content) {
  const auto path = FuzzFolder() / name;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  Require(file.good(), "a file of the target cannot be written");
  return path;
}

}  // namespace kindred
