#include "base/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

#include "base/error.h"
#include "base/json.h"
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
    minute_ = minute;
    written_.clear();
  }
  if (++written_[event.event + "/" + event.client + "/" + event.reason] > kMostAMinute) return;
  Json line = {{"time", duration<double>(now).count()}, {"event", event.event}};
  if (!event.client.empty()) line["client"] = event.client;
  if (event.round > 0) line["round"] = event.round;
  if (!event.reason.empty()) line["reason"] = event.reason;
  if (!event.detail.empty()) line["detail"] = Printable(event.detail);
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

std::map<std::string, int64_t> AuditLog::Refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

}  // namespace kindred
