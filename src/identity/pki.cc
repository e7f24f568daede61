#include "identity/pki.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <thread>

#include "base/address.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/name.h"
#include "identity/certificate.h"
#include "identity/kit.h"

namespace kindred {
namespace {

constexpr uint64_t kMostEnrolledBytes = 64 << 20;
constexpr int64_t kDay = 24 * 60 * 60;
constexpr int64_t kClockSkew = 60 * 60;  // a client's clock may be behind by so much

void WriteWithMode(const std::filesystem::path& path, const std::string& text, mode_t mode) {
  WriteFileAtomically(path, std::string_view(text));
  if (::chmod(path.c_str(), mode) != 0) {
    throw DataError("{}: its mode cannot be set", Printable(path.string()));
  }
}

void PutInPlace(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) {
    throw DataError("{}: cannot be put in place: {}", Printable(to.string()), error.message());
  }
  SyncFile(to.parent_path());
}

// A folder that is filled out of sight, with files for its owner alone, and then takes its place.
class PrivateFolder {
 public:
  explicit PrivateFolder(const std::filesystem::path& target)
      : target_(std::filesystem::absolute(target).lexically_normal()) {
    if (!target_.has_filename()) target_ = target_.parent_path();  // "kit/"
    if (std::filesystem::exists(std::filesystem::symlink_status(target_))) {
      throw Error(ExitCode::kExists, fmt::format("{}: is there already; choose another --out",
                                                 Printable(target.string())));
    }
    MakeFolder(target_.parent_path());
    hidden_ = std::make_unique<TemporaryFolder>(target_.parent_path());  // mode 0700
  }

  void Make(const std::string& name) const {
    if (::mkdir((hidden_->path() / name).c_str(), 0700) != 0) {
      throw DataError("{}: cannot be made there", Printable((target_ / name).string()));
    }
    SyncFile(hidden_->path());
  }

  void Write(const std::string& name, const std::string& text, mode_t mode) const {
    WriteWithMode(hidden_->path() / name, text, mode);
  }

  void Commit() const { PutInPlace(hidden_->path(), target_); }

 private:
  std::filesystem::path target_;
  std::unique_ptr<TemporaryFolder> hidden_;
};

// The lock of a folder, after those who have it: a change takes milliseconds.
std::unique_ptr<FolderLock> LockPki(const std::filesystem::path& folder) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (true) {
    try {
      return std::make_unique<FolderLock>(folder);
    } catch (const Error& error) {
      if (error.code() != ExitCode::kExists || Clock::now() > end) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

std::string EnrolledText(const std::vector<Enrolment>& enrolments) {
  Json clients = Json::array();
  for (const auto& each : enrolments) {
    clients.push_back({{"place", each.place},
                       {"name", each.name},
                       {"serial", each.serial},
                       {"expires", each.expires},
                       {"revoked", each.revoked},
                       {"images", each.images},
                       {"former", each.former}});
  }
  return Json{{"version", 1}, {"clients", clients}}.dump(1) + "\n";
}

void WriteEnrolments(const std::filesystem::path& folder,
                     const std::vector<Enrolment>& enrolments) {
  WriteFileAtomically(EnrolledFile(folder), std::string_view(EnrolledText(enrolments)));
}

bool IsSerial(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The list, unless it contradicts itself.
std::vector<Enrolment> ParseEnrolments(const Json& json) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
  };
  require(json.at("version").get<int>() == 1, "a version that this program does not know");
  std::vector<Enrolment> enrolments;
  std::set<std::string> names, serials;
  for (const auto& client : json.at("clients")) {
    const Enrolment each = {.place = client.at("place").get<int>(),
                            .name = client.at("name").get<std::string>(),
                            .serial = client.at("serial").get<std::string>(),
                            .expires = client.at("expires").get<int64_t>(),
                            .revoked = client.at("revoked").get<bool>(),
                            .images = client.value("images", int64_t{0}),
                            .former = client.at("former").get<std::vector<std::string>>()};
    require(each.place == static_cast<int>(enrolments.size()), "places out of order");
    require(IsName(each.name) && names.insert(each.name).second, "a bad name or one twice");
    require(IsSerial(each.serial) && serials.insert(each.serial).second, "a bad serial number");
    for (const auto& serial : each.former) {
      require(IsSerial(serial) && serials.insert(serial).second, "a bad former serial number");
    }
    enrolments.push_back(each);
  }
  return enrolments;
}

void RequirePki(const std::filesystem::path& folder) {
  if (IsFolder(folder) && FileExists(EnrolledFile(folder))) return;
  throw DataError(
      "{}: neither a folder of `kindred pki init` nor its coordinator/; take one, or make one",
      Printable(folder.string()));
}

// Lists and certificates change only where the authority's key is. Two machines that both wrote
// enrolled.json could not be brought together again.
void RequireAuthority(const std::filesystem::path& folder) {
  RequirePki(folder);
  if (FileExists(AuthorityPart(folder) / "ca.key")) return;
  const std::string name = Printable(folder.string());
  if (FileExists(folder / "ca.key")) {
    throw DataError(
        "{0}: made before its two parts were apart; move its files: cd {0} && mkdir -m 700 "
        "authority coordinator && cp -p ca.crt authority && mv ca.key authority && mv ca.crt "
        "server.crt server.key enrolled.json coordinator",
        name);
  }
  throw DataError(
      "{0}: the authority's key is not here; do this on the machine that has {0}/authority, and "
      "copy {0}/coordinator from there",
      name);
}

void RequireName(const std::string& name) {
  if (IsName(name)) return;
  throw UsageError("{}: not a name; take 1 to 64 letters, digits, dots, dashes and underscores",
                   Printable(name));
}

CertificateOptions Lasting(CertificateUse use, const std::string& name, int64_t now,
                           int64_t expires) {
  return {.use = use,
          .name = name,
          .not_before = std::min(now, expires) - kClockSkew,
          .not_after = expires};
}

// A new key, certified by the authority; the certificate does not outlive it.
KeyPair MakeCertified(const std::filesystem::path& folder, CertificateUse use,
                      const std::string& name, int days) {
  const KeyPair authority = ReadAuthority(folder);
  const int64_t end = ReadCertificate(authority.certificate)->expires;
  const int64_t now = std::time(nullptr);
  if (end <= now) {
    throw NetworkError("{}: the authority has expired; make a new one with `kindred pki init`",
                       Printable(folder.string()));
  }
  return MakeKeyPair(Lasting(use, name, now, std::min(end, now + days * kDay)), &authority);
}

// Puts the certificate into the list; its client's place in it.
Enrolment& Enrol(std::vector<Enrolment>& enrolments, const CertificateFacts& facts) {
  auto at = std::find_if(enrolments.begin(), enrolments.end(),
                         [&](const Enrolment& each) { return each.name == facts.name; });
  if (at == enrolments.end()) {
    at = enrolments.insert(at, {.place = static_cast<int>(enrolments.size()), .name = facts.name});
  } else {
    at->former.push_back(at->serial);
  }
  at->serial = facts.serial;
  at->expires = facts.expires;
  at->revoked = false;
  return *at;
}

void RequireKnownOrNew(const std::vector<Enrolment>& enrolments, const KitOptions& options) {
  const bool known = std::any_of(enrolments.begin(), enrolments.end(),
                                 [&](const Enrolment& each) { return each.name == options.name; });
  if (known && !options.renew) {
    throw UsageError(
        "{}: is enrolled already; --renew gives it a new certificate and revokes the old one",
        options.name);
  }
  if (!known && options.renew) {
    throw UsageError("{}: is not enrolled, so there is nothing to renew; leave out --renew",
                     options.name);
  }
}

}  // namespace

EnrolmentState StateOf(const Enrolment& enrolment, int64_t unix_seconds) {
  if (enrolment.revoked) return EnrolmentState::kRevoked;
  return enrolment.expires <= unix_seconds ? EnrolmentState::kExpired : EnrolmentState::kValid;
}

std::string ToString(EnrolmentState state) {
  switch (state) {
    case EnrolmentState::kUnknown:
      return "unknown";
    case EnrolmentState::kValid:
      return "valid";
    case EnrolmentState::kExpired:
      return "expired";
    case EnrolmentState::kRevoked:
      return "revoked";
  }
  Check(false, "a state without a name");
  return {};
}

PkiTerms InitPki(const std::filesystem::path& folder, const PkiOptions& options) {
  const PrivateFolder made(folder);
  const int64_t now = std::time(nullptr);
  PkiTerms terms = {.authority = now + options.days * kDay};
  terms.server = std::min(terms.authority, now + options.server_days * kDay);
  const KeyPair authority = MakeKeyPair(
      Lasting(CertificateUse::kAuthority, "Kindred federation", now, terms.authority), nullptr);
  const KeyPair server = MakeKeyPair(
      Lasting(CertificateUse::kCoordinator, kCoordinatorName, now, terms.server), &authority);
  made.Make("authority");
  made.Write("authority/ca.crt", authority.certificate, 0644);
  made.Write("authority/ca.key", authority.key, 0600);
  made.Make("coordinator");
  made.Write("coordinator/ca.crt", authority.certificate, 0644);
  made.Write("coordinator/server.crt", server.certificate, 0644);
  made.Write("coordinator/server.key", server.key, 0600);
  made.Write("coordinator/enrolled.json", EnrolledText({}), 0644);
  made.Commit();
  return terms;
}

int64_t RenewServer(const std::filesystem::path& folder, int days) {
  RequireAuthority(folder);
  const auto lock = LockPki(folder);
  const KeyPair pair = MakeCertified(folder, CertificateUse::kCoordinator, kCoordinatorName, days);
  const auto part = CoordinatorPart(folder);
  const TemporaryFolder hidden(part);
  WriteWithMode(hidden.path() / "server.key", pair.key, 0600);
  WriteWithMode(hidden.path() / "server.crt", pair.certificate, 0644);
  // Stopped in between, the two do not fit each other, and the next call makes both anew.
  PutInPlace(hidden.path() / "server.key", part / "server.key");
  PutInPlace(hidden.path() / "server.crt", part / "server.crt");
  return ReadCertificate(pair.certificate)->expires;
}

Enrolment IssueKit(const std::filesystem::path& folder, const std::filesystem::path& kit,
                   const KitOptions& options) {
  RequireName(options.name);
  if (ParseAddress(options.server).port == 0) {
    throw UsageError("{}: a client cannot dial port 0; give the port that the coordinator has",
                     options.server);
  }
  RequireAuthority(folder);
  const auto lock = LockPki(folder);
  auto enrolments = ReadEnrolments(folder);
  RequireKnownOrNew(enrolments, options);
  const PrivateFolder made(kit);
  const KeyPair pair = MakeCertified(folder, CertificateUse::kClient, options.name, options.days);
  made.Write("ca.crt", ReadAuthority(folder).certificate, 0644);
  made.Write("client.crt", pair.certificate, 0644);
  made.Write("client.key", pair.key, 0600);
  made.Write(
      "client.toml",
      fmt::format("[client]\nserver = \"{}\"\nname = \"{}\"\n", options.server, options.name),
      0644);
  Enrolment& enrolment = Enrol(enrolments, *ReadCertificate(pair.certificate));
  if (options.images > 0) enrolment.images = options.images;
  // Enrolled first: a kit that exists is known. Stopped in between, --renew makes another.
  WriteEnrolments(folder, enrolments);
  made.Commit();
  return enrolment;
}

std::filesystem::path EnrolledFile(const std::filesystem::path& folder) {
  return CoordinatorPart(folder) / "enrolled.json";
}

std::vector<Enrolment> ReadEnrolments(const std::filesystem::path& folder) {
  RequirePki(folder);
  const auto path = EnrolledFile(folder);
  const Bytes bytes = ReadFile(path, kMostEnrolledBytes);
  try {
    return ParseEnrolments(Json::parse(bytes));
  } catch (const std::exception& error) {
    throw DataError("{}: damaged: {}; restore it from a copy", Printable(path.string()),
                    Printable(error.what()));
  }
}

bool Revoke(const std::filesystem::path& folder, const std::string& name) {
  RequireName(name);
  RequireAuthority(folder);
  const auto lock = LockPki(folder);
  auto enrolments = ReadEnrolments(folder);
  const auto at = std::find_if(enrolments.begin(), enrolments.end(),
                               [&](const Enrolment& each) { return each.name == name; });
  if (at == enrolments.end()) {
    throw UsageError("{}: is not enrolled in {}; `kindred pki list` shows who is", name,
                     Printable(folder.string()));
  }
  if (at->revoked) return false;
  at->revoked = true;
  WriteEnrolments(folder, enrolments);
  return true;
}

}  // namespace kindred
