#include "record/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"

namespace kindred {

namespace {

constexpr int kMostAMinute = 100;  // lines of one kind

std::filesystem::path FullFile(const std::filesystem::path& path, int age) {
  return fmt::format("{}.{}", path.string(), age);
}

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
  if (!Append(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) && !warned_) {
    warned_ = true;
    spdlog::warn("{}: cannot be written; the audit log has a hole", Printable(path_.string()));
  }
}

// False when it could not be written whole.
bool AuditLog::Append(const std::string& line) const {
  struct stat status;
  if (::stat(path_.c_str(), &status) == 0 && status.st_size > 0 &&
      static_cast<uint64_t>(status.st_size) + line.size() + 1 > limits_.bytes) {
    Rotate();
  }
  const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return false;
  std::string text;
  char last = '\n';
  if (const off_t size = ::lseek(file, 0, SEEK_END); size > 0) {
    if (::pread(file, &last, 1, size - 1) == 1 && last != '\n') text += '\n';
  }
  text += line;
  text += '\n';
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return whole;
}

// What cannot be renamed goes on growing: better than lines that are lost.
void AuditLog::Rotate() const {
  for (int age = limits_.kept - 1; age >= 1; --age) {
    ::rename(FullFile(path_, age).c_str(), FullFile(path_, age + 1).c_str());
  }
  ::rename(path_.c_str(), FullFile(path_, 1).c_str());
}

std::vector<std::filesystem::path> AuditFiles(const std::filesystem::path& path) {
  const auto is_file = [](const std::filesystem::path& each) {
    std::error_code none;
    return std::filesystem::is_regular_file(each, none);
  };
  std::vector<std::filesystem::path> files;
  for (int age = AuditLimits().kept; age >= 1; --age) {
    if (is_file(FullFile(path, age))) files.push_back(FullFile(path, age));
  }
  if (is_file(path)) files.push_back(path);
  return files;
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
