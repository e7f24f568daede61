#include "federation/open_round.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/name.h"

namespace kindred {

bool OpenRound::CanTrain(int client) const {
  if (closing) return false;
  const auto at = parts.find(client);
  return at != parts.end() && at->second.accepted.empty() && !at->second.refused;
}

RoundPart& OpenRound::PartOf(int client, uint32_t round) {
  if (closing) throw Refused{Refusal::kRound, "no round is on"};
  if (round != static_cast<uint32_t>(number)) {
    throw Refused{Refusal::kRound,
                  fmt::format("round {} is on, not {}", number + 1, uint64_t{round} + 1)};
  }
  const auto at = parts.find(client);
  if (at == parts.end()) throw Refused{Refusal::kChosen, "this round does not ask this client"};
  return at->second;
}

void OpenRound::CheckBegin(const RoundPart& part, const v1::UploadBegin& begin, int64_t enrolled,
                           const UploadShape& shape) const {
  const v1::UploadHeader& header = begin.header();
  if (part.refused) throw Refused{Refusal::kSitsOut, "this client sits out the round"};
  if (header.nonce() != nonce) {
    throw Refused{Refusal::kNonce, "not the nonce of this round; ask for the plan again"};
  }
  if (part.whole) {
    throw Refused{Refusal::kBusy, "this client's upload is being looked at; ask for its status"};
  }
  if (!IsName(header.key().id()))
    throw Refused{Refusal::kManifest, "an upload without a proper id"};
  if (const auto why = CheckHeader(header, shape)) throw *why;
  if (header.images() != enrolled) {
    throw Refused{Refusal::kImages, fmt::format("{} images, but this client enrolled with {}",
                                                header.images(), enrolled)};
  }
  if (DigestOf(header) != begin.digest()) {
    throw Refused{Refusal::kDigest, "the header does not have the digest that comes with it"};
  }
}

RoundPart* OpenRound::Parked() {
  const auto parked = std::find_if(parts.begin(), parts.end(), [](const auto& entry) {
    const RoundPart& part = entry.second;
    return part.upload && !part.streaming && !part.whole && part.upload->HasRoom();
  });
  return parked == parts.end() ? nullptr : &parked->second;
}

int OpenRound::Accepted() const {
  return static_cast<int>(std::count_if(parts.begin(), parts.end(), [](const auto& entry) {
    return !entry.second.accepted.empty();
  }));
}

}  // namespace kindred
