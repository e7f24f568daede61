#include "base/digest.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <xxhash.h>

#include <array>

#include "base/error.h"

namespace kindred {
namespace {

std::string ToHex(std::span<const uint8_t> bytes) {
  std::string hex(bytes.size() * 2 + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), bytes.data(), bytes.size());
  hex.pop_back();
  return hex;
}

}  // namespace

struct Digest::State {
  crypto_generichash_state blake2b;
};

Digest::Digest() : state_(std::make_unique<State>()) {
  crypto_generichash_init(&state_->blake2b, nullptr, 0, crypto_generichash_BYTES);
}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

Digest& Digest::Add(std::span<const uint8_t> bytes) {
  crypto_generichash_update(&state_->blake2b, bytes.data(), bytes.size());
  return *this;
}

Digest& Digest::Add(std::string_view text) {
  Add(static_cast<int64_t>(text.size()));
  return Add(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Digest& Digest::Add(int64_t value) {
  std::array<uint8_t, 8> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
  }
  return Add(std::span<const uint8_t>(bytes));
}

std::string Digest::Hex() {
  std::array<uint8_t, crypto_generichash_BYTES> result;
  const int failed = crypto_generichash_final(&state_->blake2b, result.data(), result.size());
  Check(failed == 0, "a digest was ended twice");
  return ToHex(result);
}

struct Checksum::State {
  XXH3_state_t* xxh3 = XXH3_createState();  // aligned as it needs
  ~State() { XXH3_freeState(xxh3); }
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->xxh3); }
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

Checksum& Checksum::Add(std::span<const uint8_t> bytes) {
  XXH3_128bits_update(state_->xxh3, bytes.data(), bytes.size());
  return *this;
}

std::string Checksum::Hex() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_->xxh3));
  return ToHex(canonical.digest);
}

std::string Md5Hex(std::span<const uint8_t> bytes) {
  std::array<uint8_t, EVP_MAX_MD_SIZE> result;
  unsigned size = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), result.data(), &size, EVP_md5(), nullptr);
  if (ok != 1) {
    throw Error(ExitCode::kInternal,
                "MD5 is switched off in this machine's OpenSSL; allow it there");
  }
  return ToHex(std::span(result).first(size));
}

}  // namespace kindred
