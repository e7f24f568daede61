// Randomness that protects: a cryptographic stream keyed by a client's secret.
#pragma once

#include <array>
#include <cstdint>

#include "base/rng.h"

namespace kindred {

// What only its client knows.
using Secret = std::array<uint8_t, 32>;

// The secret of a simulated client: derived from the run's seed, so that a run can be repeated. Who
// knows the seed knows the secret.
Secret SeededSecret(uint64_t seed, int client);

// What a stream is drawn for: two uses of one secret never share a bit.
struct SecretUse {
  uint32_t round = 0;
  enum class Part : uint32_t { kMixes = 1, kSigns = 2 } part;
};

// ChaCha20's stream for a secret and a use of it.
class SecretStream : public Draws<SecretStream> {
 public:
  SecretStream(const Secret& secret, const SecretUse& use);
  SecretStream(const SecretStream&) = delete;  // a copy would give the same numbers again
  SecretStream& operator=(const SecretStream&) = delete;

  uint64_t operator()() {
    if (next_ == block_.size()) Refill();
    return block_[next_++];
  }

 private:
  void Refill();

  Secret secret_;
  std::array<uint8_t, 12> nonce_{};
  uint32_t counter_ = 0;             // of ChaCha20's blocks of 64 bytes
  std::array<uint64_t, 128> block_;  // 16 of those
  size_t next_ = block_.size();      // all used
};

}  // namespace kindred
