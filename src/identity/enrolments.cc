#include "identity/enrolments.h"

#include <sys/stat.h>

#include <ctime>

#include "base/error.h"
#include "base/log.h"
#include "identity/certificate.h"

namespace kindred {

Enrolments::Enrolments(std::filesystem::path folder)
    : folder_(std::move(folder)), file_(EnrolledFile(folder_)), stamp_(StampOf(file_)) {
  Load();
}

FoundEnrolment Enrolments::Find(const std::string& pem) {
  const auto facts = ReadCertificate(pem);
  if (!facts) return {};
  const std::lock_guard lock(mutex_);
  Refresh();
  const auto at = by_serial_.find(facts->serial);
  if (at == by_serial_.end() || enrolments_[at->second].name != facts->name) return {};
  return At(at->second, facts->serial);
}

FoundEnrolment Enrolments::ByName(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Refresh();
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) return {};
  return At(at->second, enrolments_[at->second].serial);
}

std::vector<Enrolment> Enrolments::All() {
  const std::lock_guard lock(mutex_);
  Refresh();
  return enrolments_;
}

FoundEnrolment Enrolments::At(size_t place, const std::string& serial) const {
  const Enrolment& enrolment = enrolments_[place];
  return {serial == enrolment.serial ? StateOf(enrolment, std::time(nullptr))
                                     : EnrolmentState::kRevoked,
          enrolment};
}

// All zeros when there is no file.
Enrolments::Stamp Enrolments::StampOf(const std::filesystem::path& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

void Enrolments::Load() {
  auto enrolments = ReadEnrolments(folder_);
  by_serial_.clear();
  by_name_.clear();
  for (size_t i = 0; i < enrolments.size(); ++i) {
    by_name_[enrolments[i].name] = i;
    by_serial_[enrolments[i].serial] = i;
    for (const auto& serial : enrolments[i].former) by_serial_[serial] = i;
  }
  enrolments_ = std::move(enrolments);
}

void Enrolments::Refresh() {
  // Taken before reading: a change in between is seen by the next call.
  const Stamp stamp = StampOf(file_);
  if (stamp == stamp_) return;
  try {
    Load();
    stamp_ = stamp;
    warned_ = false;
  } catch (const Error& error) {
    if (!warned_) spdlog::warn("{}; the clients read before count meanwhile", error.what());
    warned_ = true;
  }
}

}  // namespace kindred
