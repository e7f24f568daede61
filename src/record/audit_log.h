// audit.jsonl: who came, what was taken and what was refused, a line each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

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

// Appends lines, each whole. May be shared between threads. Of a flood the
// first hundred lines per minute of one event, client and reason are written, then one with "more",
// how many were left out: with the first event after that minute, or when the log is closed.
class AuditLog {
 public:
  explicit AuditLog(std::filesystem::path path) : path_(std::move(path)) {}
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

  std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> refusals_;
  std::map<std::string, Kind> kinds_;  // of this minute
  int64_t minute_ = 0;
  bool warned_ = false;
};

// How many events a line of audit.jsonl tells of: one, or as many as were left out of it.
int64_t EventsTold(const Json& line);

}  // namespace kindred
