// gzip: what is unpacked stays within its limit, and what was packed comes back, in any number of
// members.
//
// Input: a byte, then a gzip stream. The byte is the limit in steps of 64 bytes; 255: the rest is
// what is packed.
#include "data/gunzip.h"

#include "tests/fuzz/target.h"
#include "tests/gzip.h"

namespace kindred {
namespace {

void CheckPacked(std::span<const uint8_t> content) {
  const auto cut = content.begin() + static_cast<ptrdiff_t>(content.size() / 2);
  Bytes packed = Gzip({content.begin(), cut});
  const Bytes second = Gzip({cut, content.end()});
  packed.insert(packed.end(), second.begin(), second.end());
  Require(Gunzip(packed, content.size(), "packed") == Bytes(content.begin(), content.end()),
          "what was packed does not come back");
  Require(
      content.empty() || !Accepted([&] { return Gunzip(packed, content.size() - 1, "packed"); }),
      "a byte above the limit was unpacked");
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  const uint64_t limit = uint64_t{TakeByte(input)} * 64;
  if (limit == 255 * 64) return CheckPacked(input);
  const auto unpacked = Accepted([&] { return Gunzip(input, limit, "input"); });
  Require(!unpacked || unpacked->size() <= limit, "more than the limit was unpacked");
}

}  // namespace kindred
