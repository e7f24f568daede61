#include "identity/certificate.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <memory>

#include "base/error.h"

namespace kindred {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using MemoryFile = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

// OpenSSL failed at something that works unless memory or randomness has run out.
void Require(bool done, const char* doing) {
  if (done) return;
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  throw Error(ExitCode::kInternal, fmt::format("OpenSSL cannot {}: {}", doing,
                                               reason == nullptr ? "no reason given" : reason));
}

MemoryFile Reading(const std::string& text) {
  MemoryFile file(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  Require(file != nullptr, "read from memory");
  return file;
}

std::string TextOf(BIO& file) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(&file, &data);
  return {data, static_cast<size_t>(size)};
}

Certificate ParseCertificate(const std::string& pem) {
  Certificate certificate(PEM_read_bio_X509(Reading(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

Key ParseKey(const std::string& pem) {
  // A key under a password is refused; OpenSSL would ask for it on the terminal.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  Key key(PEM_read_bio_PrivateKey(Reading(pem).get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

void SetSerial(X509& certificate) {
  std::array<unsigned char, 16> bytes;
  Require(RAND_bytes(bytes.data(), bytes.size()) == 1, "draw random bytes");
  const Number number(BN_bin2bn(bytes.data(), bytes.size(), nullptr));
  Require(number != nullptr &&
              BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr,
          "set a serial number");
}

void SetName(X509& certificate, const std::string& name) {
  X509_NAME* subject = X509_get_subject_name(&certificate);
  Require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(name.data()),
                                     static_cast<int>(name.size()), -1, 0) == 1,
          "set a name");
}

void SetTimes(X509& certificate, const CertificateOptions& options) {
  Require(ASN1_TIME_set(X509_getm_notBefore(&certificate), options.not_before) != nullptr &&
              ASN1_TIME_set(X509_getm_notAfter(&certificate), options.not_after) != nullptr,
          "set the times");
}

void Extend(X509& certificate, X509& issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  Require(extension != nullptr && X509_add_ext(&certificate, extension.get(), -1) == 1,
          "extend a certificate");
}

void ExtendFor(CertificateUse use, X509& certificate, X509& issuer) {
  const bool authority = use == CertificateUse::kAuthority;
  const auto extend = [&](int nid, const std::string& value) {
    Extend(certificate, issuer, nid, value);
  };
  extend(NID_basic_constraints, authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE");
  extend(NID_key_usage, authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature");
  extend(NID_subject_key_identifier, "hash");
  if (authority) return;
  extend(NID_authority_key_identifier, "keyid:always");
  const bool coordinator = use == CertificateUse::kCoordinator;
  extend(NID_ext_key_usage, coordinator ? "serverAuth" : "clientAuth");
  if (coordinator) extend(NID_subject_alt_name, std::string("DNS:") + kCoordinatorName);
}

std::string CommonName(const X509& certificate) {
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return "";
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, value);
  if (size < 0) return "";
  std::string name(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
  return name;
}

// 32 digits; empty when it takes more, or is negative.
std::string SerialDigits(const X509& certificate) {
  const Number number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(&certificate), nullptr));
  std::array<unsigned char, 16> bytes;
  if (number == nullptr || BN_is_negative(number.get()) ||
      BN_bn2binpad(number.get(), bytes.data(), bytes.size()) < 0) {
    ERR_clear_error();
    return "";
  }
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

}  // namespace

KeyPair MakeKeyPair(const CertificateOptions& options, const KeyPair* authority) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  Require(key != nullptr && certificate != nullptr, "make a key");
  const Certificate signer = authority ? ParseCertificate(authority->certificate) : nullptr;
  const Key signing_key = authority ? ParseKey(authority->key) : nullptr;
  if (authority != nullptr && (signer == nullptr || signing_key == nullptr)) {
    throw NetworkError("the authority's key or certificate is damaged; restore ca.key and ca.crt");
  }
  X509& issuer = signer ? *signer : *certificate;

  Require(X509_set_version(certificate.get(), X509_VERSION_3) == 1, "set the version");
  SetSerial(*certificate);
  SetName(*certificate, options.name);
  SetTimes(*certificate, options);
  Require(X509_set_pubkey(certificate.get(), key.get()) == 1 &&
              X509_set_issuer_name(certificate.get(), X509_get_subject_name(&issuer)) == 1,
          "fill in a certificate");
  ExtendFor(options.use, *certificate, issuer);
  Require(
      X509_sign(certificate.get(), signing_key ? signing_key.get() : key.get(), EVP_sha256()) > 0,
      "sign a certificate");

  const MemoryFile key_file(BIO_new(BIO_s_secmem())), certificate_file(BIO_new(BIO_s_mem()));
  Require(key_file != nullptr && certificate_file != nullptr &&
              PEM_write_bio_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                       nullptr) == 1 &&
              PEM_write_bio_X509(certificate_file.get(), certificate.get()) == 1,
          "write a certificate");
  return {TextOf(*key_file), TextOf(*certificate_file)};
}

std::optional<CertificateFacts> ReadCertificate(const std::string& pem) {
  const Certificate certificate = ParseCertificate(pem);
  if (certificate == nullptr) return std::nullopt;
  std::tm expires = {};
  CertificateFacts facts = {CommonName(*certificate), SerialDigits(*certificate)};
  if (facts.name.empty() || facts.serial.empty() ||
      ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &expires) != 1) {
    return std::nullopt;
  }
  facts.expires = ::timegm(&expires);
  return facts;
}

bool KeyFits(const KeyPair& pair) {
  const Certificate certificate = ParseCertificate(pair.certificate);
  const Key key = ParseKey(pair.key);
  const bool fits = certificate != nullptr && key != nullptr &&
                    X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return fits;
}

bool Verifies(const std::string& certificate, const std::string& authority, CertificateUse use,
              std::optional<int64_t> unix_seconds) {
  const Certificate leaf = ParseCertificate(certificate), root = ParseCertificate(authority);
  if (leaf == nullptr || root == nullptr) return false;
  const std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  Require(store != nullptr && context != nullptr &&
              X509_STORE_add_cert(store.get(), root.get()) == 1 &&
              X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), nullptr) == 1,
          "verify a certificate");
  X509_VERIFY_PARAM* ask = X509_STORE_CTX_get0_param(context.get());
  if (unix_seconds) {
    X509_VERIFY_PARAM_set_time(ask, *unix_seconds);
  } else {
    X509_VERIFY_PARAM_set_flags(ask, X509_V_FLAG_NO_CHECK_TIME);
  }
  X509_VERIFY_PARAM_set_purpose(ask, use == CertificateUse::kClient        ? X509_PURPOSE_SSL_CLIENT
                                     : use == CertificateUse::kCoordinator ? X509_PURPOSE_SSL_SERVER
                                                                           : X509_PURPOSE_ANY);
  if (use == CertificateUse::kCoordinator) {
    Require(X509_VERIFY_PARAM_set1_host(ask, kCoordinatorName, 0) == 1, "ask for a name");
  }
  const bool verified = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  return verified;
}

}  // namespace kindred
