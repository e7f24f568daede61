// The program's log: lines on stderr, so that stdout holds results alone.
#pragma once

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>

namespace kindred {

// Sends spdlog's lines to stderr as "kindred: message" (warnings and errors are marked), coloured
// on a terminal. Call once, first thing in main.
void StartLog();

// What is logged while the value lives goes to the end of a file as well, with the time. A file
// that cannot be written is a warning.
class LogFile {
 public:
  explicit LogFile(const std::filesystem::path& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

 private:
  spdlog::sink_ptr file_;
};

}  // namespace kindred
