#include "transport/refusal.h"

#include <algorithm>

#include "base/error.h"

namespace kindred {
namespace {

constexpr RefusalKind kKinds[] = {
    {.reason = Refusal::kIdentity, .word = "identity", .for_good = true},
    {.reason = Refusal::kRevoked, .word = "revoked", .for_good = true},
    {.reason = Refusal::kStrikes, .word = "strikes", .for_good = true},
    {.reason = Refusal::kProtocol, .word = "protocol", .for_good = true},
    {.reason = Refusal::kRun, .word = "run"},
    {.reason = Refusal::kMember, .word = "member"},
    {.reason = Refusal::kRound, .word = "round"},
    {.reason = Refusal::kNonce, .word = "nonce"},
    {.reason = Refusal::kChosen, .word = "chosen"},
    {.reason = Refusal::kSitsOut, .word = "refused"},
    {.reason = Refusal::kOffset, .word = "offset", .usual = true},
    {.reason = Refusal::kDuplicate, .word = "duplicate"},
    {.reason = Refusal::kBusy, .word = "busy", .usual = true},
    {.reason = Refusal::kSlow, .word = "slow"},
    {.reason = Refusal::kFull, .word = "full"},
    {.reason = Refusal::kConnections, .word = "connections"},
    {.reason = Refusal::kAddress, .word = "address"},
    {.reason = Refusal::kBytes, .word = "bytes"},
    {.reason = Refusal::kHandshake, .word = "handshake"},
    {.reason = Refusal::kManifest, .word = "manifest", .strike = true},
    {.reason = Refusal::kSize, .word = "size", .strike = true},
    {.reason = Refusal::kDigest, .word = "digest", .strike = true},
    {.reason = Refusal::kImages, .word = "images", .strike = true},
    {.reason = Refusal::kNumbers, .word = "numbers", .strike = true},
    {.reason = Refusal::kValues, .word = "values", .strike = true},
    {.reason = Refusal::kNorm, .word = "norm", .strike = true},
    {.reason = Refusal::kFeatures, .word = "features", .strike = true},
};

}  // namespace

std::span<const RefusalKind> RefusalKinds() { return kKinds; }

const RefusalKind& KindOf(Refusal reason) {
  const RefusalKind& kind = kKinds[static_cast<size_t>(reason)];
  Check(kind.reason == reason, "the table of refusals is in the order of the enum");
  return kind;
}

std::optional<Refusal> RefusalOf(std::string_view word) {
  const auto at = std::ranges::find_if(kKinds, [&](const auto& kind) { return kind.word == word; });
  return at == std::end(kKinds) ? std::nullopt : std::optional(at->reason);
}

std::string TextOf(const Refused& refused) {
  return std::string(WordOf(refused.reason)) + ": " + refused.message;
}

}  // namespace kindred
