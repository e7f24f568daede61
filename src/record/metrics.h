// metrics.jsonl: a line per round and per evaluation, the source of reports and TensorBoard's
// files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/json.h"
#include "record/tensorboard.h"

namespace kindred {

// Appends lines, each whole or not at all. Not to be shared between threads.
class MetricsFile {
 public:
  // Opens the file, cut to its first `offset` bytes: what came after them is done again. Missing
  // lines are a warning: they are a record, not a part of the result.
  MetricsFile(std::filesystem::path path, uint64_t offset);

  // Adds "time", seconds since 1970, and appends the line. A full disk is a warning, not an error.
  void Append(Json line);

  // Makes sure that the lines are on the disk, before a checkpoint says that they are.
  void Sync() const;

  uint64_t offset() const { return offset_; }

 private:
  std::filesystem::path path_;
  uint64_t offset_;
};

// The lines of the file; one that is cut short is left out. `damaged`: counts whole lines that
// are no JSON objects, which are left out too.
std::vector<Json> ReadMetrics(const std::filesystem::path& path, int* damaged = nullptr);

// Each line's numbers as events at its "round".
std::vector<ScalarEvent> ToEvents(const std::vector<Json>& lines);

}  // namespace kindred
