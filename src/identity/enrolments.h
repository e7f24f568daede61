// The list of clients as a running coordinator sees it: what `kindred pki` changes counts at once.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "identity/pki.h"

namespace kindred {

// How a certificate or a name stands, and whose it is unless unknown.
struct FoundEnrolment {
  EnrolmentState state = EnrolmentState::kUnknown;
  Enrolment enrolment;
};

// Looks at enrolled.json on each call and reads it again when it changed. A file that is missing or
// damaged is warned of once, and the last good list counts until there is a good one. May be shared
// among threads.
class Enrolments {
 public:
  // Of a folder of `kindred pki init`, of which the coordinator's part is enough. Throws a data
  // error when there is no good list at the start.
  explicit Enrolments(std::filesystem::path folder);

  // Whose certificate it is, by its serial number. The text is what TLS has verified, in PEM: the
  // property x509_pem_cert of gRPC's auth context. A certificate that was renewed is revoked.
  FoundEnrolment Find(const std::string& pem);

  // The client of a name, where no certificate is shown.
  FoundEnrolment ByName(const std::string& name);

  std::vector<Enrolment> All();

 private:
  // Tells one version of the file from the next.
  struct Stamp {
    uint64_t device = 0, inode = 0, size = 0;
    int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };

  static Stamp StampOf(const std::filesystem::path& path);
  void Load();
  void Refresh();
  FoundEnrolment At(size_t place, const std::string& serial) const;

  std::filesystem::path folder_, file_;
  std::mutex mutex_;  // of all below
  Stamp stamp_;
  bool warned_ = false;
  std::vector<Enrolment> enrolments_;
  std::map<std::string, size_t> by_serial_, by_name_;
};

}  // namespace kindred
