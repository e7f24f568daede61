// Checkpoints: everything needed to go on, written so that a kill at any instant leaves one.
//
//   checkpoints/round-12.safetensors   the global model, the feature pool, the optimiser's and the
//                                      clients' states
//   checkpoints/commit.json            the generations that count, newest first, with digests
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "client/local_store.h"
#include "server/round_loop.h"

namespace kindred {

// Where a run stands between two rounds.
struct RunState {
  int next_round = 0;
  ServerState server;
  uint64_t metrics_offset = 0;  // bytes of metrics.jsonl that belong to it
  std::string progress;         // JSON of the caller: first kNN, bytes and seconds so far
  std::string identity;         // what run it belongs to: hashes of config, data, partition
  std::string input;            // EncoderInput as text; empty: not known
  std::string members;          // of a federation over a network; empty: none
};

// Writes the state and the store's clients as a new generation, then the record that makes it
// count; the two newest stay. Throws a data error when the disk fails: then the generations before
// it stay.
void SaveCheckpoint(const std::filesystem::path& folder, const RunState& state, LocalStore& store);

// The newest generation whose bytes have their digest; a damaged one gets a warning and its elder
// is taken. Fills the store. nullopt when no checkpoint was ever committed; throws a data error
// when there are some and all are damaged.
std::optional<RunState> LoadCheckpoint(const std::filesystem::path& folder, LocalStore& store);

// The same for who wants the model alone, after `round` when it is given: nullopt when no such
// round is kept; throws a data error when it is damaged.
std::optional<RunState> LoadServerState(const std::filesystem::path& folder,
                                        std::optional<int> round = std::nullopt);

}  // namespace kindred
