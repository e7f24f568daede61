// A round under way: what it hands out, and how far each of its clients is.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "federation/round_plans.h"
#include "federation/uploads.h"

namespace kindred {

// What a round knows of one of its clients.
struct RoundPart {
  std::shared_ptr<IncomingUpload> upload;  // under way, or parked
  bool streaming = false;                  // a stream brings it, or will when there is room
  bool whole = false;                      // it was handed to the round
  std::string accepted;                    // digest of the update that counts
  bool refused = false;                    // it sits out
};

// Not to be shared between threads: its owner locks.
struct OpenRound {
  int number = 0;
  std::string nonce;
  std::shared_ptr<RoundPlans> plans;
  std::map<int, RoundPart> parts;  // of the chosen
  bool closing = false;            // nobody reaches it any more

  // The client was asked and has neither answered nor been refused.
  bool CanTrain(int client) const;

  // The client's part, if this is round `round`. Throws Refused.
  RoundPart& PartOf(int client, uint32_t round);

  // Throws Refused unless the header can be that of an update in this round, from a client of
  // `part` that enrolled with so many images.
  void CheckBegin(const RoundPart& part, const v1::UploadBegin& begin, int64_t enrolled,
                  const UploadShape& shape) const;

  // A part whose stream broke while it had room; null: there is none.
  RoundPart* Parked();

  // How many updates count.
  int Accepted() const;
};

}  // namespace kindred
