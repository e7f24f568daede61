// audit.jsonl: who came, what was taken and what was refused, a line each. A full file becomes
// audit.jsonl.1, the one before it audit.jsonl.2, and so on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/json.h"

namespace kindred {

// Something that happened and that somebody may ask about later.
struct AuditEvent {
  std::string event;   // join, leave, accept, refuse, miss, alarm
  std::string client;  // a name; empty: nobody known
  int round = 0;       // counted from 1; 0: none
  std::string reason;  // of a refusal, one word
  std::string detail;
};

// A coordinator's log takes 320 MB of disk at most, some two million lines.
struct AuditLimits {
  uint64_t bytes = 64 << 20;  // of a file
  int kept = 4;               // full files beside the one that is written
};

// Appends lines, each by one write. A line that a crash or a full disk cut short is ended before
// the next, which is whole. May be shared between threads, not between processes. Of a flood the
// first hundred lines per minute of one event, client and reason are written, then one with "more",
// how many were left out: with the first event after that minute, or when the log is closed.
class AuditLog {
 public:
  explicit AuditLog(std::filesystem::path path, const AuditLimits& limits = {})
      : path_(std::move(path)), limits_(limits) {}
  ~AuditLog() { TellMore(); }
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void Add(const AuditEvent& event);

  // Refusals by reason, since the log was opened.
  std::map<std::string, int64_t> Refusals() const;

 private:
  struct Kind {
    AuditEvent event;
    int64_t seen = 0;
  };
  void TellMore();
  void Write(const AuditEvent& event, int64_t more);
  bool Append(const std::string& line) const;
  void Rotate() const;

  std::filesystem::path path_;
  AuditLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> refusals_;
  std::map<std::string, Kind> kinds_;  // of this minute
  int64_t minute_ = 0;
  bool warned_ = false;
};

// What is there of a log and of its full files, the oldest first. Regular files alone.
std::vector<std::filesystem::path> AuditFiles(const std::filesystem::path& path);

// How many events a line of audit.jsonl tells of: one, or as many as were left out of it.
int64_t EventsTold(const Json& line);

}  // namespace kindred
