// Certificates and keys, as PEM and as what is inside it: facts of an accepted one have their form,
// and none passes for one that an authority made a moment ago, nor for that authority.
//
// Input: a byte, then a certificate as PEM (0) or DER (1), or a key as PEM (2) or DER (3).
#include "identity/certificate.h"

#include <openssl/bio.h>
#include <openssl/pem.h>

#include <memory>

#include "tests/fuzz/target.h"

namespace kindred {
namespace {

struct Federation {
  KeyPair authority = MakeKeyPair({.use = CertificateUse::kAuthority,
                                   .name = "Kindred federation",
                                   .not_before = 0,
                                   .not_after = 4'000'000'000},
                                  nullptr);
  KeyPair client =
      MakeKeyPair({.name = "north", .not_before = 0, .not_after = 4'000'000'000}, &authority);
};

std::string AsPem(const char* label, std::span<const uint8_t> der) {
  const std::unique_ptr<BIO, int (*)(BIO*)> file(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio(file.get(), label, "", der.data(), static_cast<long>(der.size()));
  char* text = nullptr;
  const long size = BIO_get_mem_data(file.get(), &text);
  return {text, static_cast<size_t>(size)};
}

void CheckCertificate(const std::string& pem, const Federation& federation) {
  const auto facts = ReadCertificate(pem);
  if (!facts) return;
  Require(!facts->name.empty(), "a certificate without a name");
  Require(facts->serial.size() == 32 &&
              facts->serial.find_first_not_of("0123456789abcdef") == std::string::npos,
          "a serial number of another form");
  Require(!Verifies(pem, federation.authority.certificate, CertificateUse::kClient, std::nullopt),
          "a certificate that the authority never made");
  Require(!Verifies(federation.client.certificate, pem, CertificateUse::kClient, std::nullopt),
          "an authority that never made the certificate");
  Require(!KeyFits({federation.client.key, pem}), "a key of another certificate");
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  static const Federation federation;
  const int kind = TakeByte(input) % 4;
  const bool der = kind % 2 == 1;
  if (kind < 2) {
    CheckCertificate(der ? AsPem("CERTIFICATE", input) : std::string(AsText(input)), federation);
  } else {
    const std::string key = der ? AsPem("PRIVATE KEY", input) : std::string(AsText(input));
    Require(!KeyFits({key, federation.client.certificate}), "another key of the certificate");
  }
}

}  // namespace kindred
