#include "federation/coordinator.h"

#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <future>
#include <thread>

#include "base/parallel.h"
#include "tests/function_intake.h"
#include "wire/packed_update.h"

namespace kindred {
namespace {

NamedTensors WireModel(float value) {
  return {{"a", torch::full({3}, value)},
          {"n", torch::full({}, 7, torch::kInt64)},
          {"w", torch::full({2, 2}, 2 * value)}};
}

// A coordinator in the middle of a round that asks clients 0, ..., n - 1; updates count unless
// `refuse` says why not.
struct RoundUnderWay {
  CoordinatorOptions options;
  std::map<int, std::string> enrolled;
  std::atomic<bool> stop = false;
  std::function<std::optional<Refused>(const Arrival&)> refuse = [](const Arrival&) {
    return std::nullopt;
  };
  std::vector<AuditEvent> events;
  std::map<int, float> taken;  // a[0] of those that count
  std::optional<Traffic> traffic;
  std::unique_ptr<Coordinator> coordinator;
  std::unique_ptr<std::thread> round;  // a test may start a thread of its own
  std::atomic<bool> over = false;
  std::mutex mutex;

  explicit RoundUnderWay(int clients, CoordinatorOptions with = {}) : options(with) {
    for (int i = 0; i < clients; ++i) enrolled[i] = fmt::format("c{}", i);
    RunOffer offer = {.run = "run-1", .rounds = 3};
    offer.shape = {.manifest = ManifestOf(WireModel(0), Precision::kFloat), .width = 4, .most = 2};
    coordinator = std::make_unique<Coordinator>(
        options, offer, Members{},
        [this] {
          const std::lock_guard lock(mutex);
          return enrolled;
        },
        stop,
        [this](const AuditEvent& event) {
          const std::lock_guard lock(mutex);
          events.push_back(event);
        });
    for (int i = 0; i < clients; ++i) Join(i);
  }
  ~RoundUnderWay() {
    stop = true;
    End();
  }

  Caller Of(int client) const { return {client, fmt::format("c{}", client)}; }

  void Join(int client, int64_t images = 10) {
    v1::JoinRequest request;
    request.set_protocol(kProtocol);
    request.set_images(images);
    coordinator->Join(Of(client), request);
  }

  void Enrol(int client) {
    {
      const std::lock_guard lock(mutex);
      enrolled[client] = fmt::format("c{}", client);
    }
    Join(client);
  }

  void Begin(int wanted = 0, int number = 0) {
    over = false;
    const auto clients = coordinator->Available();
    round = std::make_unique<std::thread>([this, clients, wanted, number] {
      const PlanFor plan_for = [&](int client) -> Plan {
        Plan plan = {.round = number, .rounds = 3, .lr = 0.5, .model = WireModel(1)};
        if (client == 1) plan.remote.rows = torch::eye(4).slice(0, 0, 3);
        return plan;
      };
      FunctionIntake intake([&](Arrival&& arrival) -> std::optional<Refused> {
        if (const auto why = refuse(arrival)) return why;
        taken[arrival.client] = arrival.model.at("a")[0].item<float>();
        return std::nullopt;
      });
      try {
        traffic = coordinator->Run(
            plan_for, {number, clients, wanted > 0 ? wanted : static_cast<int>(clients.size())},
            intake);
      } catch (const Interrupted&) {
      }
      over = true;
    });
  }

  void End() {
    if (round) round->join();
    round.reset();
  }

  v1::PlanReply Plan_(int client) {
    v1::PlanRequest request;
    request.set_run("run-1");
    std::promise<v1::PlanReply> answer;
    coordinator->WaitForPlan(Of(client), request,
                             [&](const v1::PlanReply& reply) { answer.set_value(reply); });
    auto reply = answer.get_future();
    if (reply.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
      coordinator->Dismiss();
      ADD_FAILURE() << "nobody answers client " << client;
    }
    return reply.get();
  }

  // An honest upload's beginning and bytes.
  std::pair<v1::UploadBegin, Bytes> Update_(int client, const v1::PlanReply& plan,
                                            float value = 5) {
    Update update = {
        .client = client, .model = WireModel(value), .report = {.images = 10, .loss = 1}};
    update.report.steps = update.report.seen = 4;
    PackedUpdate packed = PackUpdate(
        update, {.manifest = ManifestOf(WireModel(0), Precision::kFloat), .width = 4, .most = 2});
    v1::UploadBegin begin;
    *begin.mutable_header() = packed.header;
    begin.mutable_header()->mutable_key()->set_run("run-1");
    begin.mutable_header()->mutable_key()->set_round(plan.round());
    begin.mutable_header()->mutable_key()->set_id(fmt::format("u{}", client));
    begin.mutable_header()->set_nonce(plan.nonce());
    Sign(begin, packed.bytes);
    return {begin, packed.bytes};
  }

  static void Sign(v1::UploadBegin& begin, const Bytes& bytes) {
    begin = SealUpload(begin.header(), bytes);
  }

  // The reason of the refusal, or "" when it counts.
  std::string Send(int client, const v1::UploadBegin& begin, const Bytes& bytes) try {
    std::promise<void> room;
    const UploadStream stream =
        coordinator->BeginUpload(Of(client), begin, [&] { room.set_value(); });
    if (!stream.upload) return "";
    room.get_future().get();
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!coordinator->AddBytes(stream, all.substr(begin.offset()))) {
      coordinator->ParkUpload(stream);
      return "early";
    }
    std::promise<std::optional<Refused>> done;
    coordinator->EndUpload(stream, [&](const std::optional<Refused>& why) { done.set_value(why); });
    const auto why = done.get_future().get();
    return why ? WordOf(why->reason) : "";
  } catch (const Refused& why) {
    return WordOf(why.reason);
  }

  std::string SendHonest(int client, float value = 5) {
    const auto [begin, bytes] = Update_(client, Plan_(client), value);
    return Send(client, begin, bytes);
  }
};

TEST(Coordinator, ARoundTakesEveryUpdateOnce) {
  RoundUnderWay open(3);
  open.Begin();
  EXPECT_EQ(open.Plan_(1).remote_rows(), 3u);
  EXPECT_EQ(open.Plan_(0).remote_rows(), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(open.SendHonest(i, static_cast<float>(i)), "");
  open.End();
  EXPECT_EQ(open.taken, (std::map<int, float>{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(open.traffic->up, 3u * (3 * 4 + 8 + 4 * 4));
}

TEST(Coordinator, TheSameUploadAgainIsAcknowledgedAnotherIsRefused) {
  RoundUnderWay open(2);
  open.Begin();
  const auto [begin, bytes] = open.Update_(0, open.Plan_(0));
  EXPECT_EQ(open.Send(0, begin, bytes), "");
  EXPECT_EQ(open.Send(0, begin, bytes), "");
  const auto [other, other_bytes] = open.Update_(0, open.Plan_(1), 6);
  EXPECT_EQ(open.Send(0, other, other_bytes), "duplicate");
  EXPECT_EQ(open.taken.size(), 1u);
}

TEST(Coordinator, HeadersThatCannotBeAreRefusedAndStrike) {
  struct Case {
    const char* reason;
    std::function<void(v1::UploadHeader&)> change;
  };
  const Case cases[] = {
      {"manifest", [](auto& h) { h.mutable_tensors(0)->set_name("b"); }},
      {"manifest", [](auto& h) { h.mutable_tensors(0)->set_name("../../etc"); }},
      {"manifest", [](auto& h) { h.mutable_tensors()->RemoveLast(); }},
      {"manifest", [](auto& h) { *h.add_tensors() = h.tensors(0); }},
      {"manifest", [](auto& h) { *h.mutable_tensors(1) = h.tensors(0); }},
      {"manifest", [](auto& h) { h.mutable_tensors(0)->set_kind("I64"); }},
      {"manifest", [](auto& h) { h.mutable_tensors(0)->set_shape(0, int64_t{1} << 62); }},
      {"manifest", [](auto& h) { h.mutable_tensors(0)->set_shape(0, -3); }},
      {"manifest",
       [](auto& h) {
         for (int i = 0; i < 1000; ++i) h.mutable_tensors(0)->add_shape(1);
       }},
      {"manifest", [](auto& h) { h.mutable_tensors(1)->set_offset(0); }},
      {"manifest", [](auto& h) { h.mutable_tensors(2)->set_offset(UINT64_MAX - 4); }},
      {"size", [](auto& h) { h.set_bytes(UINT64_MAX); }},
      {"size", [](auto& h) { h.set_bytes(0); }},
      {"features", [](auto& h) { h.set_feature_rows(3); }},
      {"features", [](auto& h) { h.set_feature_rows(UINT64_MAX); }},
      {"images", [](auto& h) { h.set_images(1000000000000000000); }},
      {"images", [](auto& h) { h.set_images(0); }},
      {"images", [](auto& h) { h.set_images(-10); }},
      {"numbers", [](auto& h) { h.set_loss(NAN); }},
      {"numbers", [](auto& h) { h.set_steps(0); }},
      {"numbers", [](auto& h) { (*h.mutable_metrics())["x"] = INFINITY; }},
      {"numbers",
       [](auto& h) {
         for (int i = 0; i < 65; ++i) (*h.mutable_metrics())[fmt::format("m{}", i)] = 1;
       }},
      {"nonce", [](auto& h) { h.set_nonce("another"); }},
      {"round", [](auto& h) { h.mutable_key()->set_round(1); }},
      {"run", [](auto& h) { h.mutable_key()->set_run("run-2"); }},
      {"manifest", [](auto& h) { h.mutable_key()->set_id(std::string(65, 'x')); }},
  };
  for (const auto& each : cases) {
    RoundUnderWay open(2, {.min_clients = 1});
    open.Begin();
    auto [begin, bytes] = open.Update_(0, open.Plan_(0));
    each.change(*begin.mutable_header());
    RoundUnderWay::Sign(begin, bytes);
    EXPECT_EQ(open.Send(0, begin, bytes), each.reason);
    EXPECT_EQ(open.coordinator->CurrentMembers().at(0).strikes,
              IsStrike(*RefusalOf(each.reason)) ? 1 : 0);
    EXPECT_EQ(open.SendHonest(1), "");
    if (IsStrike(*RefusalOf(each.reason))) {
      open.End();  // nobody waits for one that sits out
      EXPECT_EQ(open.taken, (std::map<int, float>{{1, 5}}));
    }
  }
}

TEST(Coordinator, BytesMustHaveTheDigestOfTheHeader) {
  RoundUnderWay open(2, {.min_clients = 1});
  open.Begin();
  const v1::PlanReply plan = open.Plan_(0);
  auto [begin, bytes] = open.Update_(0, plan);
  bytes[5] ^= 1;
  EXPECT_EQ(open.Send(0, begin, bytes), "digest");
  const auto [honest, honest_bytes] = open.Update_(0, plan);
  EXPECT_EQ(open.Send(0, honest, honest_bytes), "refused");  // it sits out the round
}

TEST(Coordinator, MoreBytesThanSaidAreRefused) {
  RoundUnderWay open(2, {.min_clients = 1});
  open.Begin();
  auto [begin, bytes] = open.Update_(0, open.Plan_(0));
  bytes.push_back(0);
  EXPECT_EQ(open.Send(0, begin, bytes), "size");
}

TEST(Coordinator, ABrokenUploadGoesOnWhereItStopped) {
  RoundUnderWay open(1, {.min_clients = 1});
  open.Begin();
  auto [begin, bytes] = open.Update_(0, open.Plan_(0));
  const Bytes half(bytes.begin(), bytes.begin() + 20);
  EXPECT_EQ(open.Send(0, begin, half), "early");
  EXPECT_EQ(open.coordinator->UploadStatus(open.Of(0), begin.header().key()).received(), 20u);
  EXPECT_EQ(open.Send(0, begin, bytes), "offset");
  begin.set_offset(20);
  EXPECT_EQ(open.Send(0, begin, bytes), "");
  open.End();
  EXPECT_EQ(open.taken, (std::map<int, float>{{0, 5}}));
}

TEST(Coordinator, AStreamThatWasReplacedAddsNothing) {
  RoundUnderWay open(1, {.min_clients = 1});
  open.Begin();
  auto [begin, bytes] = open.Update_(0, open.Plan_(0));
  const UploadStream before = open.coordinator->BeginUpload(open.Of(0), begin, [] {});
  open.coordinator->AddBytes(before, "12345678");
  begin.set_offset(8);
  const UploadStream after = open.coordinator->BeginUpload(open.Of(0), begin, [] {});
  EXPECT_THROW(open.coordinator->AddBytes(before, "1234"), Refused);
  open.coordinator->ParkUpload(before);  // too late to matter
  EXPECT_FALSE(open.coordinator->AddBytes(after, "1234"));
  EXPECT_EQ(open.coordinator->UploadStatus(open.Of(0), begin.header().key()).received(), 12u);
}

TEST(Coordinator, UploadsBeyondTheBudgetWaitForRoomAndBrokenOnesMakeIt) {
  CoordinatorOptions options = {.min_clients = 1};
  options.upload_memory = 0;  // room for one at a time
  RoundUnderWay open(3, options);
  open.Begin();
  std::vector<v1::UploadBegin> begins;
  std::vector<Bytes> bytes;
  for (int i = 0; i < 3; ++i) {
    auto [begin, content] = open.Update_(i, open.Plan_(i));
    begins.push_back(begin);
    bytes.push_back(content);
  }
  std::array<std::atomic<bool>, 3> room = {};
  std::array<UploadStream, 3> streams;
  for (size_t i = 0; i < 3; ++i) {
    streams[i] = open.coordinator->BeginUpload(open.Of(static_cast<int>(i)), begins[i],
                                               [&room, i] { room[i] = true; });
  }
  EXPECT_TRUE(room[0] && !room[1] && !room[2]);
  open.coordinator->AddBytes(streams[0], "12345678");
  open.coordinator->ParkUpload(streams[0]);  // broken: it makes room when its stream lets go
  streams[0] = {};
  open.coordinator->Tick();
  EXPECT_TRUE(room[1] && !room[2]);
  open.coordinator->AddBytes(
      streams[1],
      std::string_view(reinterpret_cast<const char*>(bytes[1].data()), bytes[1].size()));
  std::promise<std::optional<Refused>> done;
  open.coordinator->EndUpload(streams[1],
                              [&](const std::optional<Refused>& why) { done.set_value(why); });
  streams[1] = {};
  EXPECT_FALSE(done.get_future().get());
  open.coordinator->Tick();
  EXPECT_TRUE(room[2]);
}

TEST(Coordinator, ThreeStrikesAndAClientIsOutOfTheRun) {
  RoundUnderWay open(2, {.min_clients = 1});
  open.refuse = [](const Arrival& arrival) -> std::optional<Refused> {
    if (arrival.client == 0) return Refused{Refusal::kNorm, "too large"};
    return std::nullopt;
  };
  for (int round = 0; round < 3; ++round) {
    open.Begin(0, round);
    EXPECT_EQ(open.SendHonest(0), "norm");
    EXPECT_EQ(open.SendHonest(1), "");
    open.End();
  }
  EXPECT_EQ(open.coordinator->Available(), std::vector<int>{1});
  EXPECT_THROW(open.Plan_(0), Refused);
  EXPECT_THROW(open.Join(0), Refused);
  EXPECT_EQ(MembersFrom(ToText(open.coordinator->CurrentMembers())).at(0).strikes, 3);
}

TEST(Coordinator, TheRoundGoesOnWithoutTheSlowAfterTheDeadlineIfEnoughAreIn) {
  RoundUnderWay open(3, {.min_clients = 2, .deadline = 0.5});
  open.Begin();
  EXPECT_EQ(open.SendHonest(0), "");
  const auto late = open.Update_(2, open.Plan_(2));
  EXPECT_EQ(open.SendHonest(1), "");
  open.End();
  EXPECT_TRUE(open.traffic);
  EXPECT_EQ(open.taken.size(), 2u);
  open.Begin(0, 1);
  EXPECT_EQ(open.Send(2, late.first, late.second), "round");
  EXPECT_EQ(open.coordinator->CurrentMembers().at(2).strikes, 0);
}

// One is not enough and nobody else can come: the same round begins again, with a new nonce and
// without the one that was refused, whose bytes would be the same.
TEST(Coordinator, ARoundThatCannotGetEnoughBeginsAgain) {
  RoundUnderWay open(2, {.min_clients = 2});
  open.refuse = [](const Arrival& arrival) -> std::optional<Refused> {
    if (arrival.client == 1) return Refused{Refusal::kNorm, "too far"};
    return std::nullopt;
  };
  open.Begin();
  const v1::PlanReply first = open.Plan_(0);
  EXPECT_EQ(open.SendHonest(0), "");
  EXPECT_EQ(open.SendHonest(1), "norm");
  open.End();
  EXPECT_FALSE(open.traffic);
  open.Enrol(2);
  open.Begin();
  const v1::PlanReply second = open.Plan_(0);
  EXPECT_EQ(second.round(), first.round());
  EXPECT_NE(second.nonce(), first.nonce());
  EXPECT_EQ(open.SendHonest(0), "");
  const auto [begin, bytes] = open.Update_(1, second);
  EXPECT_EQ(open.Send(1, begin, bytes), "chosen");
  EXPECT_EQ(open.SendHonest(2), "");
  open.End();
  EXPECT_TRUE(open.traffic);
  EXPECT_EQ(open.coordinator->CurrentMembers().at(1).strikes, 1);
  EXPECT_EQ(open.coordinator->CurrentMembers().at(1).missed, 0);
  EXPECT_EQ(open.coordinator->Available(), (std::vector<int>{0, 1, 2}));
}

// Nobody else is there: the round waits for the one that was refused, says so, and asks it again
// when the deadline has passed.
TEST(Coordinator, ARoundThatNeedsTheRefusedSaysSoAndAsksThemAfterTheDeadline) {
  RoundUnderWay open(2, {.min_clients = 2, .deadline = 0.4});
  open.refuse = [](const Arrival& arrival) -> std::optional<Refused> {
    if (arrival.client == 1) return Refused{Refusal::kNorm, "too far"};
    return std::nullopt;
  };
  open.Begin();
  EXPECT_EQ(open.SendHonest(0), "");
  const auto refused_at = std::chrono::steady_clock::now();
  EXPECT_EQ(open.SendHonest(1), "norm");
  open.End();
  EXPECT_FALSE(open.traffic);
  EXPECT_EQ(open.coordinator->Available(), (std::vector<int>{0, 1}));
  EXPECT_GE(std::chrono::steady_clock::now() - refused_at, std::chrono::milliseconds(400));
  EXPECT_EQ(open.coordinator->CurrentMembers().at(1).strikes, 1);
  const auto told = std::count_if(open.events.begin(), open.events.end(), [](const auto& event) {
    return event.event == "alarm" && event.detail.find("c1 (norm)") != std::string::npos &&
           event.detail.find("server.min_clients") != std::string::npos;
  });
  EXPECT_EQ(told, 1);
}

// Over and over within seconds: nobody was waited for.
TEST(Coordinator, ARoundThatBeginsAgainAtOnceCountsNobodyAsMissing) {
  RoundUnderWay open(3, {.min_clients = 3});
  open.Begin();
  v1::LeaveRequest leave;
  leave.set_run("run-1");
  open.coordinator->Leave(open.Of(1), leave);
  open.End();
  EXPECT_FALSE(open.traffic);
  for (const int client : {0, 1, 2}) {
    EXPECT_EQ(open.coordinator->CurrentMembers().at(client).missed, 0) << client;
  }
}

// What is not the client's fault is no strike, and is not asked for again in the round.
TEST(Coordinator, AnUpdateThatFindsTheSumFullIsNoStrike) {
  RoundUnderWay open(2, {.min_clients = 1});
  open.refuse = [](const Arrival& arrival) -> std::optional<Refused> {
    if (arrival.client == 1) return Refused{Refusal::kFull, "no room"};
    return std::nullopt;
  };
  open.Begin();
  EXPECT_EQ(open.SendHonest(1), "full");
  EXPECT_EQ(open.SendHonest(0), "");
  open.End();
  EXPECT_TRUE(open.traffic);
  EXPECT_EQ(open.coordinator->CurrentMembers().at(1).strikes, 0);
  EXPECT_EQ(open.coordinator->Available(), (std::vector<int>{0, 1}));
}

// An update that is on its way past the deadline is let in: it would have to come again.
TEST(Coordinator, WhatIsOnItsWayPastTheDeadlineIsWaitedForWhenItIsNeeded) {
  RoundUnderWay open(2, {.min_clients = 2, .deadline = 2});
  open.Begin();
  const auto [begin, bytes] = open.Update_(1, open.Plan_(1));
  std::promise<void> room;
  const UploadStream stream =
      open.coordinator->BeginUpload(open.Of(1), begin, [&] { room.set_value(); });
  room.get_future().get();
  EXPECT_EQ(open.SendHonest(0), "");
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // past the deadline and a look
  ASSERT_TRUE(open.coordinator->AddBytes(
      stream, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  std::promise<std::optional<Refused>> done;
  open.coordinator->EndUpload(stream,
                              [&](const std::optional<Refused>& why) { done.set_value(why); });
  EXPECT_FALSE(done.get_future().get());
  open.End();
  EXPECT_TRUE(open.traffic);
  EXPECT_EQ(open.taken.size(), 2u);
}

TEST(Coordinator, WhatNeverArrivesHoldsARoundForTwiceTheDeadlineAtMost) {
  RoundUnderWay open(2, {.min_clients = 2, .deadline = 0.2});
  open.Begin();
  const auto [begin, bytes] = open.Update_(1, open.Plan_(1));
  const UploadStream stream = open.coordinator->BeginUpload(open.Of(1), begin, [] {});
  EXPECT_EQ(open.SendHonest(0), "");
  open.End();
  EXPECT_FALSE(open.traffic);
  EXPECT_THROW(open.coordinator->AddBytes(stream, "1234"), Refused);
  EXPECT_EQ(open.coordinator->CurrentMembers().at(1).missed, 1);
}

TEST(Coordinator, PastTheDeadlineWithTooFewTheRoundBeginsAgain) {
  RoundUnderWay open(2, {.min_clients = 2, .deadline = 0.2});
  open.Begin();
  EXPECT_EQ(open.SendHonest(0), "");
  open.End();
  EXPECT_FALSE(open.traffic);
  EXPECT_EQ(open.coordinator->CurrentMembers().at(0).missed, 0);
  EXPECT_EQ(open.coordinator->CurrentMembers().at(1).missed, 1);
}

TEST(Coordinator, ARoundMayAskMoreThanItWants) {
  RoundUnderWay open(3);
  open.Begin(2);
  EXPECT_EQ(open.SendHonest(2), "");
  EXPECT_EQ(open.SendHonest(0), "");
  open.End();
  EXPECT_EQ(open.taken.size(), 2u);
  EXPECT_EQ(open.coordinator->CurrentMembers().at(1).missed, 0) << "nobody waited for it";
}

TEST(Coordinator, NobodyWaitsForThoseWhoLeftAndTheyMayReturn) {
  RoundUnderWay open(3, {.min_clients = 1});
  open.Begin();
  v1::LeaveRequest leave;
  leave.set_run("run-1");
  open.coordinator->Leave(open.Of(1), leave);
  EXPECT_EQ(open.SendHonest(0), "");
  EXPECT_EQ(open.SendHonest(2), "");
  open.End();
  EXPECT_EQ(open.coordinator->Available(), (std::vector<int>{0, 2}));
  open.Join(1);
  EXPECT_EQ(open.coordinator->Available(), (std::vector<int>{0, 1, 2}));
}

TEST(Coordinator, HandsOutTheTrainedModelUntilAllSayThatTheyHaveIt) {
  RoundUnderWay open(2, {.linger = 600});
  std::atomic<bool> ended = false;
  std::thread finish([&] {
    open.coordinator->Finish(WireModel(2));
    ended = true;
  });
  v1::LeaveRequest has;
  has.set_run("run-1");
  has.set_has_model(true);
  for (int client = 0; client < 2; ++client) {
    while (open.Plan_(client).state() != v1::PlanReply::FINISHED) open.coordinator->Tick();
    v1::DownloadRequest request;
    request.set_run("run-1");
    request.set_what(v1::DownloadRequest::MODEL);
    EXPECT_GT(open.coordinator->ContentOf(open.Of(client), request).content->size(), 0u);
    EXPECT_FALSE(ended) << "who fetched it may be killed before it is safe";
    open.coordinator->Leave(open.Of(client), has);
  }
  finish.join();
  EXPECT_FALSE(open.coordinator->CurrentMembers().at(0).left);
}

TEST(Coordinator, NobodyWaitsForTheRevoked) {
  RoundUnderWay open(2, {.min_clients = 1});
  open.Begin();
  EXPECT_EQ(open.SendHonest(0), "");
  {
    const std::lock_guard lock(open.mutex);
    open.enrolled.erase(1);
  }
  open.End();
  EXPECT_EQ(open.taken.size(), 1u);
  EXPECT_EQ(open.coordinator->Available(), std::vector<int>{0});
}

TEST(Coordinator, AnUpdateOfOneWhoWasRevokedOrLeftMeanwhileDoesNotCount) {
  for (const Refusal reason : {Refusal::kRevoked, Refusal::kMember}) {
    RoundUnderWay open(2, {.min_clients = 1});
    open.Begin();
    const auto [begin, bytes] = open.Update_(1, open.Plan_(1));
    std::promise<void> room;
    const UploadStream stream =
        open.coordinator->BeginUpload(open.Of(1), begin, [&] { room.set_value(); });
    room.get_future().get();
    if (reason == Refusal::kRevoked) {
      const std::lock_guard lock(open.mutex);
      open.enrolled.erase(1);
    } else {
      v1::LeaveRequest leave;
      leave.set_run("run-1");
      open.coordinator->Leave(open.Of(1), leave);
    }
    ASSERT_TRUE(open.coordinator->AddBytes(
        stream, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    std::promise<std::optional<Refused>> done;
    open.coordinator->EndUpload(stream,
                                [&](const std::optional<Refused>& why) { done.set_value(why); });
    const auto why = done.get_future().get();
    ASSERT_TRUE(why);
    EXPECT_EQ(why->reason, reason);
    EXPECT_EQ(open.SendHonest(0), "");
    open.End();
    EXPECT_EQ(open.taken, (std::map<int, float>{{0, 5}}));
  }
}

TEST(Coordinator, WhoWasEnrolledWithSoManyImagesComesWithThem) {
  RoundUnderWay open(1);
  v1::JoinRequest request;
  request.set_protocol(kProtocol);
  request.set_images(1 << 20);
  EXPECT_THROW(open.coordinator->Join({.place = 7, .name = "c7", .images = 10}, request), Refused);
  request.set_images(10);
  open.coordinator->Join({.place = 7, .name = "c7", .images = 10}, request);
}

TEST(Coordinator, LateJoinersAreAskedInTheNextRound) {
  RoundUnderWay open(1, {.min_clients = 1});
  open.Begin();
  open.Enrol(1);
  EXPECT_EQ(open.SendHonest(0), "");
  open.End();
  EXPECT_EQ(open.coordinator->Available(), (std::vector<int>{0, 1}));
}

TEST(Coordinator, ThoseWhoWaitAreToldWhenTheRoundBeginsAndAfterAWhileToAskAgain) {
  RoundUnderWay open(2, {.min_clients = 1, .poll = 0.1});
  v1::PlanRequest request;
  request.set_run("run-1");
  std::promise<v1::PlanReply> first, second;
  open.coordinator->WaitForPlan(open.Of(0), request,
                                [&](const v1::PlanReply& reply) { first.set_value(reply); });
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  open.coordinator->Tick();
  EXPECT_EQ(first.get_future().get().state(), v1::PlanReply::WAIT);
  open.coordinator->WaitForPlan(open.Of(0), request,
                                [&](const v1::PlanReply& reply) { second.set_value(reply); });
  open.Begin();
  EXPECT_EQ(second.get_future().get().state(), v1::PlanReply::TRAIN);
}

TEST(Coordinator, WhoAsksTwiceWasCutOffAndNobodyWaitsAfterDismissal) {
  RoundUnderWay open(1);
  v1::PlanRequest request;
  request.set_run("run-1");
  std::promise<v1::PlanReply> first, second;
  open.coordinator->WaitForPlan(open.Of(0), request,
                                [&](const v1::PlanReply& reply) { first.set_value(reply); });
  open.coordinator->WaitForPlan(open.Of(0), request,
                                [&](const v1::PlanReply& reply) { second.set_value(reply); });
  EXPECT_EQ(first.get_future().get().state(), v1::PlanReply::WAIT);
  open.coordinator->Dismiss();
  EXPECT_EQ(second.get_future().get().state(), v1::PlanReply::WAIT);
  EXPECT_EQ(open.Plan_(0).state(), v1::PlanReply::WAIT);
}

// Memory of tensors, of which there is none for the next request once it is told so.
class ScarceMemory : public c10::Allocator {
 public:
  ScarceMemory() { c10::SetCPUAllocator(this); }
  ~ScarceMemory() override { c10::SetCPUAllocator(c10::GetDefaultCPUAllocator()); }

  c10::DataPtr allocate(size_t bytes) const override {
    if (fail_next.exchange(false)) throw std::bad_alloc();
    return c10::GetDefaultCPUAllocator()->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return c10::GetDefaultCPUAllocator()->raw_deleter();
  }

  mutable std::atomic<bool> fail_next = false;
};

TEST(Coordinator, AnUpdateThatThereIsNoMemoryForIsSentAgain) {
  RoundUnderWay open(2);
  open.Begin();
  const auto [begin, bytes] = open.Update_(0, open.Plan_(0));
  const auto [other, other_bytes] = open.Update_(1, open.Plan_(1));
  {
    const ScarceMemory memory;
    memory.fail_next = true;
    EXPECT_EQ(open.Send(0, begin, bytes), "busy");
    EXPECT_FALSE(memory.fail_next);
  }
  EXPECT_EQ(open.Send(1, other, other_bytes), "");
  EXPECT_EQ(open.Send(0, begin, bytes), "");
  open.End();
  EXPECT_EQ(open.taken, (std::map<int, float>{{0, 5}, {1, 5}}));
  EXPECT_EQ(open.coordinator->CurrentMembers().at(0).strikes, 0);
}

// Adding takes memory too.
TEST(Coordinator, AnUpdateThatCannotBeAddedForWantOfMemoryIsSentAgain) {
  RoundUnderWay open(2);
  bool failed = false;
  open.refuse = [&](const Arrival& arrival) -> std::optional<Refused> {
    if (arrival.client == 0 && !std::exchange(failed, true)) throw std::bad_alloc();
    return std::nullopt;
  };
  open.Begin();
  const auto [begin, bytes] = open.Update_(0, open.Plan_(0));
  EXPECT_EQ(open.Send(0, begin, bytes), "busy");
  EXPECT_EQ(open.Send(0, begin, bytes), "");
  EXPECT_EQ(open.SendHonest(1), "");
  open.End();
  EXPECT_EQ(open.taken, (std::map<int, float>{{0, 5}, {1, 5}}));
  EXPECT_EQ(open.coordinator->CurrentMembers().at(0).strikes, 0);
}

// Who reads slowly must not keep the models of rounds that have ended in memory.
TEST(Coordinator, WhatIsDownloadedIsOverWhenItsRoundIs) {
  RoundUnderWay open(2, {.min_clients = 1});
  open.Begin();
  v1::DownloadRequest request;
  request.set_run("run-1");
  request.set_what(v1::DownloadRequest::MODEL);
  open.Plan_(0);  // the round is on
  const Handout model = open.coordinator->ContentOf(open.Of(1), request);
  ASSERT_TRUE(model.over);
  EXPECT_FALSE(*model.over);
  EXPECT_EQ(open.SendHonest(0), "");
  EXPECT_EQ(open.SendHonest(1), "");
  open.End();
  EXPECT_TRUE(*model.over);
  EXPECT_EQ(model.content.use_count(), 1) << "the download is the last to hold it";
  std::thread finish([&] { open.coordinator->Finish(WireModel(2)); });
  EXPECT_EQ(open.Plan_(0).state(), v1::PlanReply::FINISHED);
  EXPECT_FALSE(open.coordinator->ContentOf(open.Of(1), request).over) << "the trained model stays";
  open.stop = true;
  finish.join();
}

// The run ends, its client is told all the same.
TEST(Coordinator, AFailureOfTheRoundLoopLeavesNobodyWaiting) {
  RoundUnderWay open(1, {.min_clients = 1});
  open.refuse = [](const Arrival&) -> std::optional<Refused> { throw Interrupted{}; };
  open.Begin();
  EXPECT_EQ(open.SendHonest(0), "round");
  open.End();
  EXPECT_FALSE(open.traffic);
}

TEST(Coordinator, RemoteFeaturesAreHandedOutWithinTheBudget) {
  CoordinatorOptions options = {.min_clients = 1};
  options.upload_memory = 0;  // room for those of one client
  RoundUnderWay open(2, options);
  open.Begin();
  const v1::PlanReply plan = open.Plan_(1);
  v1::DownloadRequest request;
  request.set_run("run-1");
  request.set_what(v1::DownloadRequest::REMOTE);
  Handout first = open.coordinator->ContentOf(open.Of(1), request);
  EXPECT_EQ(first.content->size(), 3u * 4 * 4);
  EXPECT_EQ(first.content->Digest(), plan.remote_digest());
  try {
    open.coordinator->ContentOf(open.Of(1), request);
    ADD_FAILURE() << "beyond the budget";
  } catch (const Refused& why) {
    EXPECT_EQ(why.reason, Refusal::kBusy);
  }
  first = {};
  request.set_offset(8);
  EXPECT_EQ(open.coordinator->ContentOf(open.Of(1), request).content->size(), 3u * 4 * 4);
  request.set_offset(3 * 4 * 4 + 1);
  EXPECT_THROW(open.coordinator->ContentOf(open.Of(1), request), Refused);
  EXPECT_EQ(open.SendHonest(0), "");
  EXPECT_EQ(open.SendHonest(1), "");
  open.End();
  EXPECT_EQ(open.traffic->down, 48u + 40u);
}

TEST(Coordinator, ImagesOfAClientStayTheSame) {
  RoundUnderWay open(1, {.max_images = 100});
  EXPECT_THROW(open.Join(0, 11), Refused);
  EXPECT_THROW(open.Join(1, 101), Refused);
  EXPECT_THROW(open.Join(1, 1000000000000000000), Refused);
  EXPECT_THROW(open.Join(1, -1), Refused);
  open.Join(0, 10);
}

TEST(Coordinator, AnotherProtocolIsRefused) {
  RoundUnderWay open(1);
  v1::JoinRequest request;
  request.set_protocol(kProtocol + 1);
  request.set_images(10);
  EXPECT_THROW(open.coordinator->Join(open.Of(0), request), Refused);
}

}  // namespace
}  // namespace kindred
