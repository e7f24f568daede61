// A federation's certificate authority in a folder: who may take part, and by which certificate.
//
//   authority/    ca.crt, ca.key: signs certificates; belongs on a machine that is offline
//   coordinator/  ca.crt, server.crt, server.key: all that the coordinator needs, with
//                 enrolled.json: the clients, in the order of their places; what is revoked
//
// Folders have mode 0700 and keys 0600. Only where the authority is, the files change: a
// coordinator on another machine has a copy of coordinator/. A client gets a kit, a folder too:
//
//   ca.crt, client.crt, client.key, client.toml
//
// Folders appear whole or not at all, files are replaced atomically, and processes that change the
// same folder wait for each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kindred {

// A client that was given a certificate. Its place is its index in the list, given when it was
// first enrolled and never to another.
struct Enrolment {
  int place = 0;
  std::string name;
  std::string serial;   // of its present certificate, 32 hexadecimal digits
  int64_t expires = 0;  // unix seconds
  bool revoked = false;
  int64_t images = 0;               // |D_c| that its owner named; 0: not known
  std::vector<std::string> former;  // serials of certificates that were renewed: revoked
};

// How a client, or the certificate that it shows, stands.
enum class EnrolmentState { kUnknown, kValid, kExpired, kRevoked };

// Of an enrolment's present certificate; a revoked one is never called expired.
EnrolmentState StateOf(const Enrolment& enrolment, int64_t unix_seconds);

// "unknown", "valid", "expired", "revoked".
std::string ToString(EnrolmentState state);

struct PkiOptions {
  int days = 3650;  // until the authority expires
  int server_days =
      365;  // until the coordinator's certificate does; the authority's end comes first
};

// When certificates expire, in unix seconds.
struct PkiTerms {
  int64_t authority = 0, server = 0;
};

struct KitOptions {
  std::string name;    // IsName
  std::string server;  // HOST:PORT that the client dials
  int days = 365;      // the authority's end comes first
  bool renew = false;  // a new certificate for a name that is enrolled
  int64_t images = 0;  // |D_c| that it must come with; 0: any
};

// Makes the folder, with an authority and a coordinator's certificate in it. Throws a refusal (exit
// code 5) when something is there.
PkiTerms InitPki(const std::filesystem::path& folder, const PkiOptions& options = {});

// A new key and certificate for the coordinator, of the same authority: kits stay good. A running
// coordinator has the old ones until it is restarted. Returns when it expires.
int64_t RenewServer(const std::filesystem::path& folder, int days = PkiOptions().server_days);

// Enrols a client and makes its kit in the folder `kit`, where nothing may be (exit code 5). A name
// that is enrolled is a usage error unless `renew`: then it keeps its place, and its certificate
// before is revoked.
Enrolment IssueKit(const std::filesystem::path& folder, const std::filesystem::path& kit,
                   const KitOptions& options);

// The coordinator's list of clients.
std::filesystem::path EnrolledFile(const std::filesystem::path& folder);

// The clients by place. Throws a data error when enrolled.json is missing or damaged.
std::vector<Enrolment> ReadEnrolments(const std::filesystem::path& folder);

// Revokes the client's certificates; false when they were already. A name that is not enrolled is
// a usage error.
bool Revoke(const std::filesystem::path& folder, const std::string& name);

}  // namespace kindred
