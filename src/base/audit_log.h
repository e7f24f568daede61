// audit.jsonl: who came, what was taken and what was refused, a line each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace kindred {

// Something that happened and that somebody may ask about later.
struct AuditEvent {
  std::string event;   // join, leave, accept, refuse, miss, alarm
  std::string client;  // a name; empty: nobody known
  int round = 0;       // counted from 1; 0: none
  std::string reason;  // of a refusal, one word
  std::string detail;
};

// Appends lines, each whole. May be shared between threads. A flood is counted, not written: a line
// each for the first hundred in a minute of one event, client and reason.
class AuditLog {
 public:
  explicit AuditLog(std::filesystem::path path) : path_(std::move(path)) {}

  void Add(const AuditEvent& event);

  // Refusals by reason, since the log was opened.
  std::map<std::string, int64_t> Refusals() const;

 private:
  std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> refusals_;
  std::map<std::string, int> written_;  // in this minute
  int64_t minute_ = 0;
  bool warned_ = false;
};

}  // namespace kindred
