#include "report/prometheus.h"

#include <fmt/format.h>

#include "record/audit_log.h"

namespace kindred {
namespace {

// Letters, digits and underscores: what a name may hold.
std::string NameOf(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  return name;
}

double NumberOf(const Json& line, const char* key) {
  const auto at = line.find(key);
  return at != line.end() && at->is_number() ? at->get<double>() : 0;
}

}  // namespace

void RunGauges::AddMetrics(const Json& line) {
  if (!line.is_object()) {
    ++unreadable_;
    return;
  }
  const Json kind = line.value("kind", Json());
  if (kind == "knn" && line.value("knn", Json()).is_number()) knn_ = line["knn"];
  if (kind != "round") return;
  const Json round = line.value("round", Json());
  round_ = round.is_number_integer() ? round.get<int64_t>() : 0;
  seconds_ += NumberOf(line, "seconds");
  images_ += NumberOf(line, "images");
  bytes_down_ += NumberOf(line, "bytes_down");
  bytes_up_ += NumberOf(line, "bytes_up");
  last_ = Json::object();
  for (const auto& [name, value] : line.items()) {
    if (value.is_number()) last_[name] = value;
  }
}

void RunGauges::AddAudit(const Json& line) {
  if (!line.is_object() || !line.value("event", Json()).is_string()) {
    ++unreadable_;
    return;
  }
  const auto event = line["event"].get<std::string>();
  events_[event] = events_.value(event, int64_t{0}) + EventsTold(line);
  if (event != "refuse") return;
  const Json reason = line.value("reason", Json(""));
  const std::string why = reason.is_string() ? reason.get<std::string>() : "";
  refusals_[why] = refusals_.value(why, int64_t{0}) + EventsTold(line);
}

std::string RunGauges::ToText() const {
  std::string text;
  const auto add = [&](const std::string& name, const char* type, const char* help,
                       const std::string& value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  };
  add("kindred_round", "gauge", "Rounds done.", std::to_string(round_));
  add("kindred_seconds_total", "counter", "Seconds spent in rounds.", fmt::format("{}", seconds_));
  add("kindred_images_total", "counter", "Images trained on.", fmt::format("{}", images_));
  add("kindred_bytes_down_total", "counter", "Bytes of plans.", fmt::format("{}", bytes_down_));
  add("kindred_bytes_up_total", "counter", "Bytes of updates.", fmt::format("{}", bytes_up_));
  add("kindred_unreadable_lines_total", "counter", "Lines of the logs that were cut short.",
      std::to_string(unreadable_));
  if (knn_.is_number()) {
    add("kindred_knn", "gauge", "Accuracy of the kNN monitor, 0 to 1.",
        fmt::format("{}", knn_.get<double>()));
  }
  for (const auto& [name, value] : last_.items()) {
    if (name == "round" || name == "time" || name == "bytes_down" || name == "bytes_up") continue;
    add("kindred_last_" + NameOf(name), "gauge", "Of the last round.",
        fmt::format("{}", value.get<double>()));
  }
  const auto counts = [&](const char* name, const char* label, const char* help,
                          const Json& values) {
    if (values.empty()) return;
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} counter\n", name, help);
    for (const auto& [key, value] : values.items()) {
      text += fmt::format("{}{{{}=\"{}\"}} {}\n", name, label, NameOf(key), value.get<int64_t>());
    }
  };
  counts("kindred_events_total", "event", "Events of the audit log.", events_);
  counts("kindred_refused_total", "reason", "Refusals.", refusals_);
  return text;
}

}  // namespace kindred
