// The rounds of a run whose clients are spread over ranks: rank 0 runs the round loop on all, the
// others train their clients when it says so.
//
//   rank 0 -> all      who is asked, the global model, the pool
//   rank r -> rank 0   what its intake took in and what that cost, merged on the way up a tree
//   rank r -> rank 0   what each of its clients keeps, for the checkpoint
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/local_store.h"
#include "ranks/deal.h"
#include "ranks/ranks.h"
#include "server/round_loop.h"
#include "transport/transport.h"

namespace kindred {

// Throws a usage error on rank 0 unless these facts, by name, are the same on all ranks: one digest
// needs one program, the same data and the same kind of CPU. Called by every rank; `host` tells
// them apart in the error.
void CheckSame(Ranks& ranks, const std::vector<std::pair<std::string, std::string>>& facts,
               const std::string& host);

// Rank 0's side of every round.
class RankTransport final : public Transport {
 public:
  // `own` trains the clients of rank 0; `store` has what all clients keep, of which the other ranks
  // get theirs now; `state` is the round loop's. All must outlive it.
  RankTransport(Ranks& ranks, RankOf rank_of, Transport& own, LocalStore& store,
                const ServerState& state);

  std::vector<int> Available() override { return own_.Available(); }

  // When it returns, the store has what the clients of the round keep.
  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             Intake& intake) override;

  // There are no more rounds: FollowRounds returns on the other ranks.
  void End();

 private:
  Ranks& ranks_;
  RankOf rank_of_;
  Transport& own_;
  LocalStore& store_;
  const ServerState& state_;
};

// The side of the other ranks: as long as rank 0's RankTransport has rounds, trains this rank's
// clients by `own`, which keeps what they keep in `store`.
void FollowRounds(Ranks& ranks, const RankOf& rank_of, const RoundLoopOptions& options,
                  Transport& own, LocalStore& store);

}  // namespace kindred
