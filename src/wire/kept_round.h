// What a client keeps of its last rounds, so that it comes back as itself after a kill at any
// instant: the state it began the round with, the state it ended with, and the update as it
// travels.
//
//   round-12.kept   two of them at most; kept_parts.h says what is in it
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/named_tensors.h"
#include "wire/upload_header.h"

namespace kindred {

struct KeptRound {
  std::string run;
  int round = -1;
  std::string plan;    // what it was trained on: PlanDigest
  std::string upload;  // the upload's id
  NamedTensors start, end;
  PackedUpdate update;
};

// Everything that an update depends on, beside the client's own data and state.
std::string PlanDigest(const std::string& run, const v1::PlanReply& plan,
                       const std::string& settings);

// Writes it as the newest; of those before it one stays. Throws a data error when the disk fails.
void KeepRound(const std::filesystem::path& folder, const KeptRound& kept);

// The newest whose bytes are whole and that is of this run and not after `round`; nullopt when
// there is none. A damaged one gets a warning.
std::optional<KeptRound> LoadKeptRound(const std::filesystem::path& folder, const std::string& run,
                                       int round);

}  // namespace kindred
