#include "ranks/rank_rounds.h"

#include <nlohmann/json.hpp>

#include "base/cpu_seconds.h"
#include "base/error.h"
#include "model/safetensors.h"
#include "server/round_intake.h"

namespace kindred {
namespace {

using Value = nlohmann::json;

// What a round begins with.
struct RoundOrder {
  Chosen chosen;  // of all ranks
  ServerState state;
};

void SendOrder(Ranks& ranks, const Chosen& chosen, const ServerState& state) {
  Bytes who = Value::to_cbor({{"round", chosen.round},
                              {"clients", chosen.clients},
                              {"recent", DeltasToText(state.recent)}});
  ranks.Broadcast(who);
  Safetensors tensors;
  AddUnder(tensors.tensors, "global", state.global);
  AddUnder(tensors.tensors, "pool", state.pool.ToTensors());
  Bytes bytes = SerializeSafetensors(tensors);
  ranks.Broadcast(bytes);
}

// nullopt: there are no more rounds.
std::optional<RoundOrder> ReceiveOrder(Ranks& ranks) {
  Bytes who, tensors;
  ranks.Broadcast(who);
  if (who.empty()) return std::nullopt;
  ranks.Broadcast(tensors);
  const Value value = Value::from_cbor(who);
  const NamedTensors all = ParseSafetensors(tensors, "rank 0's state").tensors;
  return RoundOrder{.chosen = {.round = value.at("round"), .clients = value.at("clients")},
                    .state = {.global = Under(all, "global"),
                              .pool = FeaturePool::FromTensors(Under(all, "pool")),
                              .recent = DeltasFromText(value.at("recent"))}};
}

// Those of the chosen that this rank trains.
Chosen OwnOf(const Chosen& chosen, const RankOf& rank_of, int rank) {
  Chosen own = {.round = chosen.round};
  for (const int client : chosen.clients) {
    if (rank_of[static_cast<size_t>(client)] == rank) own.clients.push_back(client);
  }
  own.wanted = static_cast<int>(own.clients.size());
  return own;
}

// What the intakes of all ranks have comes together in rank 0's, and what that cost in its traffic:
// up a tree, in log2 of the ranks steps.
void MergeUp(Ranks& ranks, Intake& intake, Traffic& traffic) {
  const int rank = ranks.Rank();
  for (int step = 1; step < ranks.Size(); step *= 2) {
    if (rank % (2 * step) != 0) {
      const IntakePart part = intake.Part();
      ranks.Send(rank - step, Value::to_cbor({traffic.down, traffic.up, traffic.cpu_seconds}));
      ranks.Send(rank - step, part.reports);
      ranks.Send(rank - step, part.models);
      return;
    }
    if (rank + step >= ranks.Size()) continue;
    const Value cost = Value::from_cbor(ranks.Receive(rank + step));
    traffic.down += cost.at(0).get<uint64_t>();
    traffic.up += cost.at(1).get<uint64_t>();
    traffic.cpu_seconds += cost.at(2).get<double>();
    const Bytes reports = ranks.Receive(rank + step);
    intake.Merge({reports, ranks.Receive(rank + step)});
  }
}

void SendState(Ranks& ranks, int to, const LocalStore& store, int client) {
  store.With(client, [&](const NamedTensors& state) {
    ranks.Send(to, SerializeSafetensors({.tensors = state}));
  });
}

void ReceiveState(Ranks& ranks, int from, LocalStore& store, int client) {
  store.Put(client, ParseSafetensors(ranks.Receive(from), "a client's state").tensors);
}

}  // namespace

void CheckSame(Ranks& ranks, const std::vector<std::pair<std::string, std::string>>& facts,
               const std::string& host) {
  const std::string text = Value({{"host", host}, {"facts", facts}}).dump();
  const auto all = ranks.Gather(Bytes(text.begin(), text.end()));
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const Value theirs = Value::parse(all[rank].begin(), all[rank].end());
    for (size_t i = 0; i < facts.size(); ++i) {
      const std::string their = theirs.at("facts").at(i).at(1);
      if (their == facts[i].second) continue;
      throw UsageError("rank {} on {} has another {} than rank 0 on {}: {}, not {}", rank,
                       Printable(theirs.at("host").get<std::string>()), facts[i].first, host,
                       Printable(their), facts[i].second);
    }
  }
}

RankTransport::RankTransport(Ranks& ranks, RankOf rank_of, Transport& own, LocalStore& store,
                             const ServerState& state)
    : ranks_(ranks), rank_of_(std::move(rank_of)), own_(own), store_(store), state_(state) {
  const std::string clients = Value(store.Clients()).dump();
  Bytes with_state(clients.begin(), clients.end());
  ranks.Broadcast(with_state);
  for (const int client : store.Clients()) {
    const int rank = rank_of_[static_cast<size_t>(client)];
    if (rank != 0) SendState(ranks, rank, store, client);
  }
}

std::optional<Traffic> RankTransport::Run(const PlanFor& plan_for, const Chosen& chosen,
                                          Intake& intake) {
  SendOrder(ranks_, chosen, state_);
  auto traffic = own_.Run(plan_for, OwnOf(chosen, rank_of_, 0), intake);
  Check(traffic.has_value(), "a simulated client is missing");
  ranks_.Meet();
  MergeUp(ranks_, intake, *traffic);
  for (const int client : chosen.clients) {
    const int rank = rank_of_[static_cast<size_t>(client)];
    if (rank != 0) ReceiveState(ranks_, rank, store_, client);
  }
  return traffic;
}

void RankTransport::End() {
  Bytes nothing;
  ranks_.Broadcast(nothing);
}

void FollowRounds(Ranks& ranks, const RankOf& rank_of, const RoundLoopOptions& options,
                  Transport& own, LocalStore& store) {
  Bytes message;
  ranks.Broadcast(message);
  for (const int client : Value::parse(message.begin(), message.end())) {
    if (rank_of[static_cast<size_t>(client)] == ranks.Rank()) ReceiveState(ranks, 0, store, client);
  }
  while (const auto order = ReceiveOrder(ranks)) {
    const Chosen mine = OwnOf(order->chosen, rank_of, ranks.Rank());
    RoundIntake intake(options, order->chosen, order->state);
    const double cpu_start = CpuSeconds();
    const auto plan_for = [&](int client) {
      return PlanFrom(options, order->state, mine.round, client);
    };
    auto traffic = own.Run(plan_for, mine, intake);
    Check(traffic.has_value(), "a simulated client is missing");
    traffic->cpu_seconds = CpuSeconds() - cpu_start;
    ranks.Meet();
    MergeUp(ranks, intake, *traffic);
    for (const int client : mine.clients) SendState(ranks, 0, store, client);
  }
}

}  // namespace kindred
