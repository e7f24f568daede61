#include "data/gunzip.h"

#include <gtest/gtest.h>

#include "tests/gzip.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(Gunzip, UnpacksWhatZlibPacked) {
  Bytes content(3'000'000);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i * i >> 7);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1} << 20, content.size()}) {
    const Bytes part(content.begin(), content.begin() + static_cast<ptrdiff_t>(size));
    const Bytes packed = Gzip(part);
    EXPECT_TRUE(IsGzip(packed));
    EXPECT_EQ(Gunzip(packed, size, "x"), part) << size;
  }
}

TEST(Gunzip, JoinsMembers) {
  Bytes packed = Gzip({1, 2, 3});
  const Bytes second = Gzip({4, 5});
  packed.insert(packed.end(), second.begin(), second.end());
  EXPECT_EQ(Gunzip(packed, 5, "x"), (Bytes{1, 2, 3, 4, 5}));
}

Bytes EmptyMembers(int count) {
  const Bytes empty = Gzip({});
  Bytes packed;
  packed.reserve(empty.size() * static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) packed.insert(packed.end(), empty.begin(), empty.end());
  return packed;
}

// An empty member takes no room: no step of 1 MiB is made and cleared for it.
TEST(Gunzip, AnEmptyMemberTakesNoRoom) {
  const Bytes nothing = Gunzip(EmptyMembers(1000), 0, "x.gz");
  EXPECT_EQ(nothing.size(), 0u);
  EXPECT_EQ(nothing.capacity(), 0u);
}

TEST(Gunzip, TakesSoManyMembersAndNoMore) {
  EXPECT_EQ(Gunzip(EmptyMembers(kMostMembers), 0, "x.gz").size(), 0u);
  ExpectError(ExitCode::kData, "more than 100000 gzip members",
              [] { Gunzip(EmptyMembers(kMostMembers + 1), 0, "x.gz"); });
}

TEST(Gunzip, RefusesDamage) {
  const Bytes content(100'000, 7);
  const Bytes packed = Gzip(content);
  const auto unpack = [](const Bytes& bytes, uint64_t limit = 1 << 20) {
    return [=] { Gunzip(bytes, limit, "x.gz"); };
  };
  for (const size_t size : {size_t{5}, packed.size() / 2, packed.size() - 1}) {
    ExpectError(ExitCode::kData, "cut short",
                unpack(Bytes(packed.begin(), packed.begin() + static_cast<ptrdiff_t>(size))));
  }
  Bytes flipped = packed;
  flipped[flipped.size() - 6] ^= 1;  // the checksum
  ExpectError(ExitCode::kData, "damaged gzip", unpack(flipped));
  Bytes longer = packed;
  longer.push_back(0);
  ExpectError(ExitCode::kData, "1 bytes follow", unpack(longer));
  ExpectError(ExitCode::kData, "more than the 99999 bytes", unpack(packed, 99'999));
}

// 64 MB of zeros pack into 64 kB: the cap stops them after a step, not at the end.
TEST(Gunzip, StopsABombAtItsCap) {
  const Bytes bomb = Gzip(Bytes(64 << 20, 0));
  EXPECT_LT(bomb.size(), 100'000u);
  ExpectError(ExitCode::kData, "more than the 1000 bytes", [&] { Gunzip(bomb, 1000, "x.gz"); });
}

}  // namespace
}  // namespace kindred
