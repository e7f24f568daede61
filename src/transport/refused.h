// A call of a client that is refused: why, for programs and for people.
#pragma once

#include <string>

namespace kindred {

// `reason` is one word that programs go by; the words are listed in docs/protocol.md.
struct Refused {
  std::string reason;
  std::string message;
};

// Whether the reason lies in what an update holds: three of those, and the client is out of the
// run. Being late, cut off or out of step is nobody's fault.
bool IsStrike(const std::string& reason);

}  // namespace kindred
