// A kept round: read as it is, and with its digest mended, so that what lies below is reached. What
// is accepted is written and reads back as the same.
#include <algorithm>

#include "base/digest.h"
#include "tests/fuzz/target.h"
#include "wire/kept_parts.h"

namespace kindred {
namespace {

void CheckParts(std::span<const uint8_t> input) {
  const auto parts = Accepted([&] { return ParseKeptParts(input); });
  if (!parts) return;
  Require(parts->update.size() + parts->states.size() <= input.size(), "parts beyond the file");
  Bytes written;
  WriteKeptParts(*parts, [&](std::span<const uint8_t> bytes) {
    written.insert(written.end(), bytes.begin(), bytes.end());
  });
  const KeptParts again = ParseKeptParts(written);
  Require(again.run == parts->run && again.round == parts->round && again.plan == parts->plan &&
              again.upload == parts->upload,
          "other names are read");
  Require(DigestOf(again.header) == DigestOf(parts->header), "another header is read");
  Require(std::ranges::equal(again.update, parts->update) &&
              std::ranges::equal(again.states, parts->states),
          "other bytes are read");
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  CheckParts(input);
  constexpr size_t kDigestSize = 64;
  if (input.size() < kDigestSize) return;
  const auto content = input.first(input.size() - kDigestSize);
  Bytes mended(content.begin(), content.end());
  const std::string digest = Digest().Add(content).Hex();
  mended.insert(mended.end(), digest.begin(), digest.end());
  CheckParts(mended);
}

}  // namespace kindred
