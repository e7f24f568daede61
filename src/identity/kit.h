// Reading keys and certificates from the folders that pki.h makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "identity/certificate.h"

namespace kindred {

// So many seconds before its end a certificate ought to be renewed.
inline constexpr int64_t kRenewAhead = 30 * 24 * 60 * 60;

// What a client shows and whom it trusts: PEM texts.
struct Kit {
  std::string ca, certificate, key;
  std::string name;     // the certificate's: who the client is
  int64_t expires = 0;  // unix seconds; may be past
};

// The same of a coordinator.
struct ServerKit {
  std::string ca, certificate, key;
  int64_t expires = 0;
};

// The two parts of a folder of `kindred pki init`. A folder without parts is a coordinator's
// itself: a copy of that part alone, or made before there were parts.
std::filesystem::path AuthorityPart(const std::filesystem::path& pki_folder);
std::filesystem::path CoordinatorPart(const std::filesystem::path& pki_folder);

// These throw a data error when a file is missing, and a network error (an identity's) when a key
// may be read by others than its owner, when a file holds no key or certificate, when the two do
// not belong together, or when ca.crt does not vouch for the certificate. An expired one is read:
// whoever uses it says so.
Kit ReadKit(const std::filesystem::path& folder);
ServerKit ReadServerKit(const std::filesystem::path& pki_folder);

// What the coordinator's certificate says; nullopt when it is missing or none.
std::optional<CertificateFacts> ReadServerFacts(const std::filesystem::path& pki_folder);

// The authority's key and certificate. Throws as the above do, and when the coordinator's part is
// of another authority.
KeyPair ReadAuthority(const std::filesystem::path& pki_folder);

}  // namespace kindred
