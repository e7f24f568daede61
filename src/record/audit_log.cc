#include "record/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"

namespace kindred {

namespace {

constexpr int kMostAMinute = 100;  // lines of one kind

}  // namespace

void AuditLog::Add(const AuditEvent& event) {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  const std::lock_guard lock(mutex_);
  if (event.event == "refuse") ++refusals_[event.reason];
  if (const int64_t minute = duration_cast<minutes>(now).count(); minute != minute_) {
    TellMore();
    minute_ = minute;
  }
  Kind& kind = kinds_[event.event + "/" + event.client + "/" + event.reason];
  if (++kind.seen <= kMostAMinute) {
    Write(event, 0);
  } else if (kind.seen == kMostAMinute + 1) {
    kind.event = {.event = event.event, .client = event.client, .round = 0, .reason = event.reason};
  }
}

// What the minute left out, one line per kind.
void AuditLog::TellMore() {
  for (auto& [name, kind] : kinds_) {
    const int64_t more = kind.seen - kMostAMinute;
    if (more <= 0) continue;
    kind.event.detail = fmt::format("{} more like it were left out", more);
    Write(kind.event, more);
  }
  kinds_.clear();
}

void AuditLog::Write(const AuditEvent& event, int64_t more) {
  using namespace std::chrono;
  Json line = {{"time", duration<double>(system_clock::now().time_since_epoch()).count()},
               {"event", event.event}};
  if (!event.client.empty()) line["client"] = event.client;
  if (event.round > 0) line["round"] = event.round;
  if (!event.reason.empty()) line["reason"] = event.reason;
  if (!event.detail.empty()) line["detail"] = Printable(event.detail);
  if (more > 0) line["more"] = more;
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) ::close(file);
  if (!written && !warned_) {
    warned_ = true;
    spdlog::warn("{}: cannot be written; the audit log has a hole", Printable(path_.string()));
  }
}

int64_t EventsTold(const Json& line) {
  const Json more = line.value("more", Json());
  return more.is_number_integer() ? std::max<int64_t>(1, more.get<int64_t>()) : 1;
}

std::map<std::string, int64_t> AuditLog::Refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

}  // namespace kindred
