#include "privacy/secret_stream.h"

#include <sodium.h>

#include <bit>
#include <string_view>

#include "base/error.h"

namespace kindred {
namespace {

constexpr uint32_t kBlocks = sizeof(std::array<uint64_t, 128>) / 64;

void PutLittleEndian(uint64_t value, uint8_t* out, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace

Secret SeededSecret(uint64_t seed, int client) {
  std::array<uint8_t, 16> message;
  PutLittleEndian(seed, message.data(), 8);
  PutLittleEndian(static_cast<uint64_t>(client), message.data() + 8, 8);
  constexpr std::string_view kDomain = "kindred: a simulated secret";
  Secret secret;
  crypto_generichash(secret.data(), secret.size(), message.data(), message.size(),
                     reinterpret_cast<const uint8_t*>(kDomain.data()), kDomain.size());
  return secret;
}

SecretStream::SecretStream(const Secret& secret, const SecretUse& use) : secret_(secret) {
  static_assert(std::endian::native == std::endian::little);
  PutLittleEndian(static_cast<uint64_t>(use.part), nonce_.data(), 4);
  PutLittleEndian(use.round, nonce_.data() + 4, 4);
}

void SecretStream::Refill() {
  Check(counter_ <= UINT32_MAX - kBlocks, "a secret's stream is used up");
  std::array<uint8_t, sizeof(block_)> zeros{};
  crypto_stream_chacha20_ietf_xor_ic(reinterpret_cast<uint8_t*>(block_.data()), zeros.data(),
                                     zeros.size(), nonce_.data(), counter_, secret_.data());
  counter_ += kBlocks;
  next_ = 0;
}

}  // namespace kindred
