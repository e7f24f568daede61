// TensorBoard's file of a run, which follows metrics.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>

namespace kindred {

// Begun anew when a run begins or goes on, so that it never holds more than the metrics; then
// appended to. Not to be shared between threads.
class EventFile {
 public:
  // Throws a data error when the folder cannot be made or the file not be written.
  EventFile(const std::filesystem::path& folder, std::filesystem::path metrics);

  // Appends what the metrics have got since. Throws a data error when that fails; the next call
  // tries again.
  void CatchUp();

 private:
  std::filesystem::path path_, metrics_;
  uint64_t read_ = 0;  // bytes of the metrics whose events are in the file
};

}  // namespace kindred
