// A run's numbers as Prometheus reads them.
#pragma once

#include <string>

#include "base/json.h"

namespace kindred {

// What a run's lines come to, fed one by one.
class RunGauges {
 public:
  void AddMetrics(const Json& line);  // of metrics.jsonl
  void AddAudit(const Json& line);    // of audit.jsonl

  // The text exposition format, version 0.0.4.
  std::string ToText() const;

 private:
  int64_t round_ = 0;
  Json last_ = Json::object();  // numbers of the last round
  double seconds_ = 0, images_ = 0, bytes_down_ = 0, bytes_up_ = 0;
  int64_t unreadable_ = 0;          // lines of either file
  Json knn_;                        // null: none yet
  Json events_ = Json::object();    // counts by event
  Json refusals_ = Json::object();  // counts by reason
};

}  // namespace kindred
