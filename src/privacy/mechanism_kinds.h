// The table of mechanisms: what a client may share of its images, by privacy.features. Here is what
// is known of each without LibTorch; mechanism.cc has how its rows are made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "privacy/instahide.h"
#include "privacy/privacy_options.h"
#include "privacy/secret_stream.h"

namespace kindred {

// Rows that a client is asked for in a round.
struct RowsAsked {
  int images = 0;  // that the client has
  int count = 0;   // rows
  const Secret& secret;
  uint32_t round = 0;
};

struct MechanismKind {
  const char* name;     // of privacy.features
  const char* summary;  // for help
  bool travels;         // its rows may leave a client over a network; else in a simulation alone
  bool unit_rows;       // its rows have length 1
  // A client with fewer images cannot share.
  int (*least_images)(const PrivacyOptions& options);
  const char* least_says;  // what that follows from, after the number: " (some.key)", or nothing
  // Which images each row is made of, and how much each counts: for an observer that knows labels.
  std::vector<Mix> (*made_of)(const PrivacyOptions& options, const RowsAsked& asked);
  // The sentence for the page and the model card, Markdown.
  std::string (*sentence)(const PrivacyOptions& options);
};

// Help texts, checks and the conformance tests go through it.
std::span<const MechanismKind> MechanismKinds();

// The one that the options name. Throws a usage error when there is none.
const MechanismKind& MechanismOf(const PrivacyOptions& options);

// Throws a usage error unless its rows may travel over a network.
void CheckTravels(const PrivacyOptions& options);

// Why so many images are too few to share anything of; nullopt: they are enough.
std::optional<std::string> TooFewImages(const PrivacyOptions& options, int64_t images);

}  // namespace kindred
