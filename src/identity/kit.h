// Reading keys and certificates from the folders that pki.h makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "identity/certificate.h"

namespace kindred {

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

// These throw a data error when a file is missing, and a network error (an identity's) when a key
// may be read by others than its owner, when a file holds no key or certificate, when the two do
// not belong together, or when ca.crt does not vouch for the certificate. An expired one is read:
// whoever uses it says so.
Kit ReadKit(const std::filesystem::path& folder);
ServerKit ReadServerKit(const std::filesystem::path& pki_folder);

// ca.key and ca.crt of an authority's folder.
KeyPair ReadAuthority(const std::filesystem::path& pki_folder);

}  // namespace kindred
