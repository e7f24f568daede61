#include "base/digest.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(Md5, GivesThePublishedValues) {  // RFC 1321, A.5
  EXPECT_EQ(Md5Hex({}), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Md5Hex(AsBytes("abc")), "900150983cd24fb0d6963f7d28e17f72");
}

TEST(Digest, IsBlake2b256) {  // `printf abc | b2sum -l 256`
  EXPECT_EQ(Digest().Add(AsBytes("abc")).Hex(),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(Checksum, IsXxh3OfWhatWasAddedInPieces) {  // `printf abc | xxh128sum`
  EXPECT_EQ(Checksum().Add(AsBytes("abc")).Hex(), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(Checksum().Add(AsBytes("a")).Add(AsBytes("bc")).Hex(),
            Checksum().Add(AsBytes("abc")).Hex());
  EXPECT_NE(Checksum().Add(AsBytes("abd")).Hex(), Checksum().Add(AsBytes("abc")).Hex());
}

TEST(Digest, SeesWhereOneTextEndsAndTheNextBegins) {
  const auto hex = [](std::string_view a, std::string_view b) {
    return Digest().Add(a).Add(b).Hex();
  };
  EXPECT_NE(hex("ab", "c"), hex("a", "bc"));
}

TEST(Digest, FeedsIntegersLittleEndian) {
  const uint8_t bytes[8] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  EXPECT_EQ(Digest().Add(int64_t{-2}).Hex(), Digest().Add(std::span(bytes)).Hex());
}

}  // namespace
}  // namespace kindred
