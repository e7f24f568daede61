#include "ranks/rank_rounds.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// What the threads of a test say to each other, as if each were a process.
struct Exchange {
  explicit Exchange(int ranks) : size(ranks) {}
  const int size;
  std::mutex mutex;
  std::condition_variable news;
  std::map<std::pair<int, int>, std::deque<Bytes>> boxes;  // by sender and receiver

  void Put(int from, int to, const Bytes& bytes) {
    const std::lock_guard lock(mutex);
    boxes[{from, to}].push_back(bytes);
    news.notify_all();
  }
  Bytes Take(int from, int to) {
    std::unique_lock lock(mutex);
    auto& box = boxes[{from, to}];
    news.wait(lock, [&] { return !box.empty(); });
    Bytes bytes = std::move(box.front());
    box.pop_front();
    return bytes;
  }
};

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(Exchange& exchange, int rank) : exchange_(exchange), rank_(rank) {}
  int Rank() const override { return rank_; }
  int Size() const override { return exchange_.size; }
  std::vector<Bytes> Gather(const Bytes& own) override {
    if (rank_ != 0) {
      Send(0, own);
      return {};
    }
    std::vector<Bytes> all = {own};
    for (int rank = 1; rank < Size(); ++rank) all.push_back(Receive(rank));
    return all;
  }
  void Broadcast(Bytes& bytes) override {
    if (rank_ != 0) bytes = Receive(0);
    for (int rank = 1; rank_ == 0 && rank < Size(); ++rank) Send(rank, bytes);
  }
  void Meet() override {
    Gather({});
    Bytes nothing;
    Broadcast(nothing);
  }
  void Send(int to, const Bytes& bytes) override { exchange_.Put(rank_, to, bytes); }
  Bytes Receive(int from) override { return exchange_.Take(from, rank_); }
  [[noreturn]] void Abort(int code) override { std::exit(code); }
  double Talking() const override { return 0; }
  double Waiting() const override { return 0; }

 private:
  Exchange& exchange_;
  int rank_;
};

// `body` on each of the ranks.
void OnThreads(int ranks, const std::function<void(Ranks&)>& body) {
  Exchange exchange(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&exchange, &body, rank] {
      ThreadRanks own(exchange, rank);
      body(own);
    });
  }
  for (auto& thread : threads) thread.join();
}

constexpr int kClients = 7;

// A client moves the model by a hash of itself, the round, what it was sent and how often it has
// trained, which it keeps.
class CountingTransport : public Transport {
 public:
  explicit CountingTransport(LocalStore& store) : store_(store) {}

  std::vector<int> Available() override {
    std::vector<int> all(kClients);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             Intake& intake) override {
    Traffic traffic;
    for (const int client : chosen.clients) {
      const Plan plan = plan_for(client);
      NamedTensors kept = store_.Get(client, [] {
        return NamedTensors{{"times", torch::zeros({1})}};
      });
      kept.at("times") += 1;
      const float times = kept.at("times").item<float>();
      store_.Put(client, std::move(kept));
      NamedTensors model = Clone(plan.model);
      const auto sent = static_cast<float>(plan.remote.Size());
      model.at("a") += 0.01f * torch::tensor({times, sent, static_cast<float>(client)});
      model.at("n") += client;
      const double angle = client + 0.7 * plan.round;
      Arrival arrival = {.client = client,
                         .model = std::move(model),
                         .features = torch::tensor({{static_cast<float>(std::cos(angle)),
                                                     static_cast<float>(std::sin(angle))}}),
                         .report = {.images = 1 + client,
                                    .loss = 0.1 * client,
                                    .steps = 1 + client,
                                    .seen = 1 + client,
                                    .metrics = {{"times", times}, {"not_measured", NAN}}}};
      traffic.down += 10;
      traffic.up += static_cast<uint64_t>(client);
      EXPECT_FALSE(intake.Add(std::move(arrival))) << client;
    }
    return traffic;
  }

 private:
  LocalStore& store_;
};

RoundLoopOptions RankOptions(const std::string& rule) {
  return {.train = {.rounds = 5, .batch = 1, .participation = 0.75, .seed = 3},
          .features = {.max_age = 2},
          .rule = {.rule = rule},
          .optimizer = {.optimizer = "momentum"},
          .trained = {"a"},
          .features_width = 2,
          .features_most = 4,
          .images_of = [](int client) { return int64_t{1} + client; }};
}

ServerState FirstState() {
  return {.global = {{"a", torch::tensor({0.5f, -1.0f, 2.0f})},
                     {"n", torch::zeros({}, torch::kInt64)}}};
}

// Everything that a run leaves, as text.
std::string Rounds(Transport& transport, LocalStore& store, ServerState& state,
                   const RoundLoopOptions& options) {
  std::string told;
  RunRounds(options, transport, state, [&](const RoundReport& report) {
    told += fmt::format("{} {} {} {} {} {} {} {:.17g} {:.17g}\n", report.round, report.clients,
                        report.images, report.weight, report.bytes_down, report.bytes_up,
                        fmt::join(report.who, ","), report.loss, report.metrics.at("times"));
    for (const int client : store.Clients()) {
      store.With(client, [&](const NamedTensors& kept) { told += DigestOf(kept); });
    }
    told += DigestOf(state.global) + DigestOf(state.pool.ToTensors()) + DigestOf(state.optimizer);
  });
  return told;
}

std::string RoundsAlone(const RoundLoopOptions& options, ServerState state) {
  const auto folder = TestFolder();
  LocalStore store(1 << 20, folder.path());
  CountingTransport transport(store);
  return Rounds(transport, store, state, options);
}

std::string RoundsOnRanks(int ranks, const RoundLoopOptions& options, const ServerState& first) {
  const RankOf rank_of = [&] {
    RankOf all;
    for (int client = 0; client < kClients; ++client) all.push_back(client * 5 % ranks);
    return all;
  }();
  std::string told;
  OnThreads(ranks, [&](Ranks& own) {
    const auto folder = TestFolder();
    LocalStore store(1 << 20, folder.path());
    CountingTransport transport(store);
    if (!own.Leads()) return FollowRounds(own, rank_of, options, transport, store);
    ServerState state = first;
    RankTransport all(own, rank_of, transport, store, state);
    told = Rounds(all, store, state, options);
    all.End();
  });
  return told;
}

TEST(RankRounds, LeaveOnAnyNumberOfRanksWhatOneProcessLeaves) {
  for (const char* rule : {"mean", "trimmed"}) {
    const RoundLoopOptions options = RankOptions(rule);
    const std::string alone = RoundsAlone(options, FirstState());
    for (const int ranks : {1, 2, 3, 9}) {  // of 9 some have no client
      EXPECT_EQ(RoundsOnRanks(ranks, options, FirstState()), alone) << rule << " " << ranks;
    }
  }
}

TEST(RankRounds, BeginWithWhatClientsKept) {
  const auto folder = TestFolder();
  RoundLoopOptions options = RankOptions("mean");
  const auto rounds = [&](bool spread) {
    LocalStore store(1 << 20, folder.path());
    for (const int client : {1, 2, 6}) {
      store.Put(client, {{"times", torch::full({1}, 10.0f * static_cast<float>(client))}});
    }
    CountingTransport transport(store);
    ServerState state = FirstState();
    if (!spread) return Rounds(transport, store, state, options);
    std::string told;
    const RankOf rank_of = {0, 1, 1, 0, 1, 0, 1};
    OnThreads(2, [&](Ranks& own) {
      if (own.Leads()) {
        RankTransport all(own, rank_of, transport, store, state);
        told = Rounds(all, store, state, options);
        return all.End();
      }
      const auto scratch = TestFolder();
      LocalStore theirs(1 << 20, scratch.path());
      CountingTransport train(theirs);
      FollowRounds(own, rank_of, options, train, theirs);
    });
    return told;
  };
  EXPECT_EQ(rounds(true), rounds(false));
  EXPECT_NE(rounds(true), RoundsAlone(options, FirstState())) << "what is kept counts";
}

TEST(RankRounds, ARankOfAnotherProgramIsNamed) {
  OnThreads(3, [](Ranks& ranks) {
    const auto check = [&] {
      CheckSame(ranks, {{"version", "1"}, {"data", ranks.Rank() == 2 ? "other" : "own"}},
                fmt::format("host-{}", ranks.Rank()));
    };
    if (!ranks.Leads()) return check();
    ExpectError(ExitCode::kUsage,
                "rank 2 on host-2 has another data than rank 0 on host-0: other, not own", check);
  });
  OnThreads(3, [](Ranks& ranks) { CheckSame(ranks, {{"version", "1"}}, "host"); });
}

}  // namespace
}  // namespace kindred
