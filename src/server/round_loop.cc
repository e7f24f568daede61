#include "server/round_loop.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <optional>

#include "aggregate/rule.h"
#include "aggregate/weighted_mean.h"
#include "base/error.h"
#include "model/distance.h"
#include "server/capped_weights.h"
#include "server/client_sampling.h"
#include "server/rank_share.h"
#include "server/server_optimizer.h"

namespace kindred {

double CosineRate(double lr, int round, int rounds) {
  return 0.5 * lr * (1 + std::cos(std::numbers::pi * round / rounds));
}

namespace {

// Processor time of this process so far.
double CpuSeconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Sums over the clients, and means weighted by their steps, in one order whatever came first.
void AddUp(const std::map<int, Arrival>& arrivals, RoundReport& report) {
  double steps = 0;
  std::map<std::string, double> weights;  // a number may be missing from some clients
  for (const auto& [client, arrival] : arrivals) {
    const auto weight = static_cast<double>(arrival.report.steps);
    report.loss += weight * arrival.report.loss;
    steps += weight;
    ++report.clients;
    report.who.push_back(client);
    report.images += arrival.report.seen;
    report.weight += arrival.report.images;
    for (const auto& [name, value] : arrival.report.metrics) {
      if (std::isnan(value)) continue;  // not measured
      report.metrics[name] += weight * value;
      weights[name] += weight;
    }
  }
  report.loss /= steps;
  for (auto& [name, value] : report.metrics) value /= weights[name];
}

// Whom the round asks of those there are: beta of them, and `over` of those more for the case that
// some are slow.
Chosen Choose(const std::vector<int>& available, const TrainOptions& train, double over,
              int round) {
  const int count = static_cast<int>(available.size());
  Chosen chosen = {.wanted = ClientsInRound(count, train.participation)};
  const double share = std::min(1.0, train.participation * (1 + over));
  for (const int place : SampleClients(count, share, round, train.seed)) {
    chosen.clients.push_back(available[static_cast<size_t>(place)]);
  }
  return chosen;
}

// Those of the chosen that this process trains.
Chosen OwnOf(const Chosen& chosen, const RoundLoopOptions& options) {
  if (options.ranks == nullptr || options.ranks->Alone()) return chosen;
  Chosen own;
  for (const int client : chosen.clients) {
    if (options.rank_of(client) == options.ranks->Rank()) own.clients.push_back(client);
  }
  own.wanted = static_cast<int>(own.clients.size());
  return own;
}

// The updates of a round as they come in.
class Gathered {
 public:
  // All must outlive it; the state is that of the round's beginning.
  Gathered(const RoundLoopOptions& options, const Chosen& chosen, const ServerState& state)
      : options_(options),
        state_(state),
        shared_(state.pool.All()),
        usual_(state.usual),
        rule_(MakeRule(options.rule)) {
    if (usual_.norm == 0 && options.limits.norm_ratio > 0) usual_ = {NormOf(state.global), 0};
    if (!options.images_of) return;
    for (const int client : chosen.clients) enrolled_[client] = options.images_of(client);
    weights_ = CappedWeights(enrolled_, options.limits.max_share);
  }

  std::optional<Refused> Add(Arrival&& arrival) {
    if (arrivals_.contains(arrival.client))
      return Refused{Refusal::kNumbers, "a second update of a round"};
    const auto enrolled = enrolled_.find(arrival.client);
    if (options_.images_of && enrolled == enrolled_.end())
      return Refused{Refusal::kNumbers, "of a client not asked"};
    const UpdateLimits limits = {.global = state_.global,
                                 .enrolled = options_.images_of ? enrolled->second : 0,
                                 .most_images = WeightedMean::kMostWeight - 1 - weight_,
                                 .epochs = options_.train.epochs,
                                 .batch = options_.train.batch,
                                 .max_norm = options_.limits.max_norm,
                                 .norm_ratio = options_.limits.norm_ratio,
                                 .usual = usual_,
                                 .features_width = options_.features_width,
                                 .features_most = options_.features_most,
                                 .shared = &shared_};
    double norm = 0;
    if (auto why = WhyNotUpdate(arrival, limits, &norm)) return why;
    weight_ += arrival.report.images;
    norms_[arrival.client] = norm;
    rule_->Add(arrival.client, std::move(arrival.model),
               options_.images_of ? weights_.at(arrival.client) : arrival.report.images);
    arrival.model.clear();
    arrivals_.emplace(arrival.client, std::move(arrival));
    return std::nullopt;
  }

  // What the ranks gathered becomes what each has, but for the models: those rank 0 has.
  void Collect(Ranks& ranks, Traffic& traffic, double& cpu_seconds) {
    if (ranks.Alone()) return;
    ranks.Meet();
    Bytes all = BytesOf({arrivals_, norms_, traffic, cpu_seconds});
    const auto of_ranks = ranks.Gather(all);
    if (ranks.Leads()) {
      traffic = {};
      cpu_seconds = 0;
      for (const auto& bytes : of_ranks) {
        RankShare share = RankShareIn(bytes);
        arrivals_.merge(share.arrivals);
        norms_.merge(share.norms);
        traffic.down += share.traffic.down;
        traffic.up += share.traffic.up;
        cpu_seconds += share.cpu_seconds;
      }
      all = BytesOf({arrivals_, norms_, traffic, cpu_seconds});
    }
    ranks.Broadcast(all);
    RankShare share = RankShareIn(all);
    arrivals_ = std::move(share.arrivals);
    norms_ = std::move(share.norms);
    traffic = share.traffic;
    cpu_seconds = share.cpu_seconds;
    rule_->Collect(ranks, state_.global);
  }

  const std::map<int, Arrival>& Arrivals() const { return arrivals_; }  // without their models
  // The new model, made by rank 0 with what its optimiser keeps.
  NamedTensors Take(Ranks& ranks, NamedTensors& optimizer) {
    NamedTensors model = ranks.Leads() ? rule_->Take() : Clone(state_.global);
    if (ranks.Leads()) {
      StepServer(options_.optimizer, state_.global, options_.trained, model, optimizer);
    }
    BroadcastTensors(ranks, model);
    return model;
  }
  UsualDelta Usual() const {
    std::vector<double> norms, steps;
    for (const auto& [client, arrival] : arrivals_) {
      norms.push_back(norms_.at(client));
      steps.push_back(static_cast<double>(arrival.report.steps));
    }
    return {LowerMedian(norms), LowerMedian(steps)};
  }

 private:
  // Of an even number the lower one: of two clients the hostile one does not set the measure.
  static double LowerMedian(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
  }

  const RoundLoopOptions& options_;
  const ServerState& state_;
  OrderedRows shared_;  // the pool's
  UsualDelta usual_;
  std::map<int, int64_t> enrolled_, weights_;  // of those asked
  std::unique_ptr<Aggregate> rule_;
  std::map<int, Arrival> arrivals_;
  std::map<int, double> norms_;  // |theta_c - theta|
  int64_t weight_ = 0;
};

}  // namespace

void RunRounds(const RoundLoopOptions& options, Transport& transport, ServerState& state,
               const std::function<void(const RoundReport&)>& on_round) {
  const TrainOptions& train = options.train;
  const auto alone = OneRank();
  Ranks& ranks = options.ranks != nullptr ? *options.ranks : *alone;
  Check(options.images_of || options.limits.max_share >= 1, "shares of what is not known");
  for (int round = options.first; round < train.rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = CpuSeconds();
    RoundReport report{.round = round, .lr = CosineRate(train.lr, round, train.rounds)};
    state.pool.DropOld(round, options.features.max_age);
    const auto plan_for = [&](int client) -> Plan {
      return {
          .round = round,
          .rounds = train.rounds,
          .lr = report.lr,
          .model = state.global,
          .remote = state.pool.RemoteFor(client, round, options.features.max_remote, train.seed)};
    };
    std::optional<Gathered> gathered;
    std::optional<Traffic> traffic;
    while (!traffic) {
      const Chosen chosen = Choose(transport.Available(), train, options.over_selection, round);
      gathered.emplace(options, chosen, state);
      traffic = transport.Run(plan_for, OwnOf(chosen, options),
                              [&](Arrival&& arrival) { return gathered->Add(std::move(arrival)); });
    }
    report.cpu_seconds = CpuSeconds() - cpu_start;
    gathered->Collect(ranks, *traffic, report.cpu_seconds);
    Check(!gathered->Arrivals().empty(), "a round without an update that counts");
    AddUp(gathered->Arrivals(), report);
    report.bytes_down = traffic->down;
    report.bytes_up = traffic->up;
    state.global = gathered->Take(ranks, state.optimizer);
    state.usual = gathered->Usual();
    for (const auto& [client, arrival] : gathered->Arrivals()) {
      if (arrival.features.defined()) state.pool.Replace(client, arrival.features, round);
    }
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    on_round(report);
  }
}

}  // namespace kindred
