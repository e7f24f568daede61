// X.509 certificates with ECDSA keys on P-256, in PEM: made, read and verified by OpenSSL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kindred {

// The name that every coordinator's certificate carries and clients ask for, whatever address they
// dial: the authority is the federation's own and signs one coordinator.
inline constexpr const char* kCoordinatorName = "kindred-coordinator";

// What a certificate is good for. A client's never passes as a coordinator's, nor the other way.
enum class CertificateUse { kAuthority, kCoordinator, kClient };

struct CertificateOptions {
  CertificateUse use = CertificateUse::kClient;
  std::string name;        // its common name
  int64_t not_before = 0;  // unix seconds
  int64_t not_after = 0;   // unix seconds
};

// A private key and its certificate. The key is a secret: it goes to a file of mode 0600 and
// nowhere else.
struct KeyPair {
  std::string key;
  std::string certificate;
};

// A new key with a certificate for it, of a random 128-bit serial number, signed by the authority
// or, when there is none, by itself. Throws a network error when the authority's key or certificate
// cannot be used.
KeyPair MakeKeyPair(const CertificateOptions& options, const KeyPair* authority);

// What a certificate says.
struct CertificateFacts {
  std::string name;     // its common name
  std::string serial;   // 32 hexadecimal digits
  int64_t expires = 0;  // unix seconds
};

// None when the text is no certificate, or one that MakeKeyPair did not make: without a common name
// or with a longer serial number.
std::optional<CertificateFacts> ReadCertificate(const std::string& pem);

// Whether the key is the certificate's.
bool KeyFits(const KeyPair& pair);

// Whether the authority vouches for the certificate in this use, at this time or, without one,
// whenever.
bool Verifies(const std::string& certificate, const std::string& authority, CertificateUse use,
              std::optional<int64_t> unix_seconds);

}  // namespace kindred
