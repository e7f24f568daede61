#include "record/metrics.h"

#include <chrono>
#include <fstream>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"

namespace kindred {

MetricsFile::MetricsFile(std::filesystem::path path, uint64_t offset)
    : path_(std::move(path)), offset_(offset) {
  std::ofstream(path_, std::ios::app);  // made if missing
  if (!FileExists(path_)) throw DataError("{}: cannot be written", Printable(path_.string()));
  const uint64_t size = std::filesystem::file_size(path_);
  if (size < offset) {
    spdlog::warn("{}: lines of earlier rounds are missing", Printable(path_.string()));
    offset_ = size;
  }
  std::error_code error;
  std::filesystem::resize_file(path_, offset_, error);
  if (error)
    throw DataError("{}: cannot be written: {}", Printable(path_.string()), error.message());
}

void MetricsFile::Append(Json line) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  line["time"] = std::chrono::duration<double>(now).count();
  const std::string text = line.dump() + "\n";
  std::ofstream out(path_, std::ios::app | std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    spdlog::warn("{}: a line could not be written: is the disk full?", Printable(path_.string()));
    std::error_code ignored;
    std::filesystem::resize_file(path_, offset_, ignored);  // no half line
    return;
  }
  offset_ += text.size();
}

void MetricsFile::Sync() const { SyncFile(path_); }

std::vector<Json> ReadMetrics(const std::filesystem::path& path, int* damaged) {
  std::vector<Json> lines;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return lines;  // a pipe would never end
  std::ifstream in(path);
  for (std::string text; std::getline(in, text);) {
    auto line = ParseJson(text);
    if (line.is_object()) {
      lines.push_back(std::move(line));
    } else if (damaged != nullptr && !text.empty() && !in.eof()) {
      ++*damaged;
    }
  }
  return lines;
}

std::vector<ScalarEvent> ToEvents(const std::vector<Json>& lines) {
  std::vector<ScalarEvent> events;
  for (const auto& line : lines) {
    const Json time = line.value("time", Json()), round = line.value("round", Json());
    ScalarEvent event{.wall_time = time.is_number() ? time.get<double>() : 0,
                      .step = round.is_number_integer() ? round.get<int64_t>() : 0};
    for (const auto& [name, value] : line.items()) {
      if (value.is_number() && name != "time" && name != "round") {
        event.values.emplace_back(name, value.get<double>());
      }
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace kindred
