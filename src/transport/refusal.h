// Why a call or an update is refused: a word for programs, a line for people.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kindred {

enum class Refusal {
  kIdentity,     // no certificate of this federation
  kRevoked,      // its certificate was revoked
  kStrikes,      // out of the run after too many refused updates
  kProtocol,     // another version of the protocol
  kRun,          // another run is on
  kMember,       // has not joined the run, or has left it
  kRound,        // of a round that is over, or not on yet
  kNonce,        // of a round as it was announced before
  kChosen,       // this round does not ask this client
  kSitsOut,      // its update was refused, it sits out the round
  kOffset,       // a transfer that would go on at another place
  kDuplicate,    // another update of this client counts already
  kBusy,         // no room now
  kSlow,         // a transfer below the least rate
  kFull,         // the round's sum has no room for so many images
  kConnections,  // too many connections, or no descriptors left
  kAddress,      // too many connections from one address
  kBytes,        // a connection with more bytes than its calls account for
  kHandshake,    // a connection that ended without a call
  kManifest,     // other tensors, shapes, kinds or places than the manifest's
  kSize,         // more or fewer bytes than the manifest has
  kDigest,       // a header without its digest, or bytes without their checksum
  kImages,       // another |D_c| than enrolled, or one that cannot be
  kNumbers,      // a loss, steps or a metric that cannot be
  kValues,       // a value, a variance or a counter that cannot be
  kNorm,         // an update far larger than those of the others
  kFeatures,     // features that cannot be of a client's own images
};

struct RefusalKind {
  Refusal reason;
  const char* word;  // on the wire and in the audit log: docs/protocol.md lists them
  // It lies in what an update holds: after server.strikes of those a client is out of the run.
  // Being late, cut off or out of step is nobody's fault.
  bool strike = false;
  // A client can do nothing about it: asking again would end the same way.
  bool for_good = false;
  // Any late or waiting client meets it: the audit log leaves it out.
  bool usual = false;
};

// All of them, in the order of the enum.
std::span<const RefusalKind> RefusalKinds();
const RefusalKind& KindOf(Refusal reason);

inline const char* WordOf(Refusal reason) { return KindOf(reason).word; }
inline bool IsStrike(Refusal reason) { return KindOf(reason).strike; }

// The reason that a word from the wire stands for; nullopt: this program has no such word.
std::optional<Refusal> RefusalOf(std::string_view word);

struct Refused {
  Refusal reason;
  std::string message;
};

// "values: q/conv1 holds nan".
std::string TextOf(const Refused& refused);

}  // namespace kindred
