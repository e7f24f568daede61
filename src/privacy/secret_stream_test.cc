#include "privacy/secret_stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace kindred {
namespace {

// RFC 8439, appendix A.1, test vectors 1 and 2: key and nonce zero, counters 0 and 1. A part of 0,
// which is never used, makes the nonce zero.
TEST(SecretStream, IsChaCha20OfTheRfc) {
  SecretStream stream(Secret{}, {0, static_cast<SecretUse::Part>(0)});
  // 76 b8 e0 ad a0 f1 3d 90 40 5d 6a e5 53 86 bd 28, little-endian.
  EXPECT_EQ(stream(), 0x903df1a0ade0b876ull);
  EXPECT_EQ(stream(), 0x28bd8653e56a5d40ull);
  for (int i = 2; i < 8; ++i) stream();
  // Test vector 2: counter 1 begins 9f 07 e7 be 55 51 38 7a.
  EXPECT_EQ(stream(), 0x7a385155bee7079full);
}

TEST(SecretStream, SecretsRoundsAndPartsDoNotShareABlock) {
  std::set<uint64_t> seen;
  for (int client = 0; client < 3; ++client) {
    for (uint32_t round = 0; round < 3; ++round) {
      for (const auto part : {SecretUse::Part::kMixes, SecretUse::Part::kSigns}) {
        SecretStream stream(SeededSecret(7, client), {round, part});
        for (int i = 0; i < 300; ++i) seen.insert(stream());
      }
    }
  }
  EXPECT_EQ(seen.size(), 3u * 3 * 2 * 300);
}

TEST(SecretStream, SecretsDependOnSeedAndClient) {
  EXPECT_EQ(SeededSecret(1, 2), SeededSecret(1, 2));
  EXPECT_NE(SeededSecret(1, 2), SeededSecret(2, 1));
  EXPECT_NE(SeededSecret(1, 2), SeededSecret(1, 3));
}

TEST(SecretStream, GoesOnOverItsBuffer) {
  SecretStream stream(SeededSecret(1, 1), {1, SecretUse::Part::kSigns});
  int64_t ones = 0;
  constexpr int kWords = 1000;
  for (int i = 0; i < kWords; ++i) ones += __builtin_popcountll(stream());
  // 64,000 fair bits: 32,000 with a deviation of 126.5.
  EXPECT_NEAR(static_cast<double>(ones), 32000, 5 * 126.5);
}

}  // namespace
}  // namespace kindred
