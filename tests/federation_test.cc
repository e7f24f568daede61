// `kindred serve` and `kindred join` as users type them: the same model as `kindred train`,
// whatever is killed.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/folders.h"
#include "tests/process.h"
#include "tests/program.h"

namespace kindred {
namespace {

const std::string kTinyFile = "'" KINDRED_SOURCE_DIR "/configs/tiny.toml'";

nlohmann::json FederationSummary(const std::filesystem::path& run) {
  const Bytes bytes = ReadFile(run / "summary.json", 1 << 20);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

std::string TextOf(const std::filesystem::path& file) {
  const Bytes bytes = ReadFile(file, 1 << 28);
  return {bytes.begin(), bytes.end()};
}

// A coordinator and its clients in a folder: f/pki, f/kit-c0, f/served, f/joined-0, ...
struct Federation {
  std::string config;  // --config and --set of all of them
  int clients = 5;
  TemporaryFolder folder = TestFolder();
  std::string address;
  std::unique_ptr<Process> server;
  std::vector<std::unique_ptr<Process>> joined;

  Federation(std::string with, int count) : config(std::move(with)), clients(count) {
    EXPECT_EQ(Kindred(folder, "pki init --out pki").code, 0);
    joined.resize(static_cast<size_t>(clients));
  }

  void Serve(const std::string& by = "exec") {
    const std::string listen = address.empty() ? "127.0.0.1:0" : address;
    server = std::make_unique<Process>(
        folder.path(),
        fmt::format("serve --resume --config {} --listen {} --pki pki --out served", config,
                    listen),
        "serve.log", by);
    if (address.empty()) address = server->After("listening on ");
  }

  // The kits, made when the coordinator's port is known.
  void Issue() {
    for (int i = 0; i < clients; ++i) {
      const Ran ran = Kindred(
          folder, fmt::format("pki issue c{0} --pki pki --server {1} --out kit-c{0}", i, address));
      EXPECT_EQ(ran.code, 0) << ran.err;
    }
  }

  void Join(int i, const std::string& by = "exec") {
    JoinWith(i,
             fmt::format("--config {} --set client.share={}/{} --set client.key=seeded", config, i,
                         clients),
             by);
  }

  // With images of its own, as `words` name them.
  void JoinWith(int i, const std::string& words, const std::string& by = "exec") {
    joined[static_cast<size_t>(i)] = std::make_unique<Process>(
        folder.path(),
        fmt::format("join --kit kit-c{0} {1} --set train.workers=1 --out joined-{0}", i, words),
        fmt::format("join-{}.log", i), by);
  }

  std::string TrainDigest() {
    const Ran ran = Kindred(folder, "train --config " + config + " --out trained");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return FederationSummary(folder.path() / "trained")["model_digest"];
  }
  std::string ServedDigest() { return FederationSummary(folder.path() / "served")["model_digest"]; }
};

// A free port of this machine, to be listened on later: kits name it before there is a coordinator.
std::string FreeAddress() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
}

TEST(Federation, HasTheDigestOfTheSimulationAndLeavesTheModelWithEveryClient) {
  Federation federation(kTinyFile, 5);
  federation.address = FreeAddress();
  federation.Issue();
  federation.Serve();
  for (int i = 0; i < 5; ++i) federation.Join(i);
  const std::string digest = federation.TrainDigest();
  EXPECT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
  EXPECT_EQ(federation.ServedDigest(), digest);
  const auto refused = FederationSummary(federation.folder.path() / "served")["refused"];
  EXPECT_TRUE(refused.empty()) << refused << "; connections count, too";
  for (int i = 0; i < 5; ++i) {
    auto& client = *federation.joined[static_cast<size_t>(i)];
    EXPECT_EQ(client.Wait(30), 0) << client.Log();
    const auto run = federation.folder.path() / fmt::format("joined-{}", i);
    EXPECT_EQ(FederationSummary(run)["model_digest"], digest);
  }
  const Ran exported = Kindred(federation.folder, "export --run joined-3 --out exported");
  EXPECT_EQ(exported.code, 0) << exported.err;
  const Ran used = Kindred(federation.folder, "eval knn --run exported --set eval.limit=20");
  EXPECT_EQ(used.code, 0) << used.err;  // of a federation, whose partition nobody here can deal
  const Ran again =
      Kindred(federation.folder, "join --kit kit-c0 --config " + kTinyFile + " --out joined-0");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("finished"), std::string::npos) << again.err;
}

// What the coordinator alone decides, and what it tells its clients of their features.
TEST(Federation, HasTheDigestOfTheSimulationWithAServerOptimizerAndWeighedFeatures) {
  Federation federation(kTinyFile +
                            " --set server.optimizer=yogi --set features.encoder=global"
                            " --set features.weight=2 --set features.max_remote=70",
                        5);
  federation.address = FreeAddress();
  federation.Issue();
  federation.Serve();
  for (int i = 0; i < 5; ++i) {
    federation.JoinWith(i, fmt::format("--config {} --set client.share={}/5 "
                                       "--set client.key=seeded",
                                       kTinyFile, i));
  }
  const std::string digest = federation.TrainDigest();
  EXPECT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
  EXPECT_EQ(federation.ServedDigest(), digest);
}

// A client's own limit, which the coordinator does not know.
TEST(Federation, AClientRefusesMoreRemoteFeaturesThanItTakes) {
  Federation federation(kTinyFile, 5);
  federation.address = FreeAddress();
  federation.Issue();
  federation.Serve();
  for (int i = 0; i < 5; ++i) {
    federation.JoinWith(
        i, fmt::format("--config {} --set client.share={}/5 --set features.max_remote={}",
                       kTinyFile, i, i == 0 ? 7 : 0));
  }
  auto& strict = *federation.joined[0];
  EXPECT_EQ(strict.Wait(120), 4) << strict.Log();
  EXPECT_NE(strict.Log().find("256 remote features, features.max_remote allows 7"),
            std::string::npos)
      << strict.Log();
  EXPECT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
}

// Files may not grow beyond 100 kB: neither the coordinator's checkpoints nor what a client keeps
// can be written. Rounds go on, both say so; a trained model that could not be saved is no success,
// and when there is room again the run ends with it.
TEST(Federation, FullDisksAreAlarmsAndChangeNothing) {
  const std::string kFull = "ulimit -f 200 && exec";
  Federation federation(kTinyFile + " --set server.linger=60", 5);
  federation.address = FreeAddress();
  federation.Issue();
  federation.Serve(kFull);
  federation.Join(0, kFull);
  for (int i = 1; i < 5; ++i) federation.Join(i);
  const std::string digest = federation.TrainDigest();
  EXPECT_EQ(federation.server->Wait(300), 3) << federation.server->Log();
  EXPECT_NE(federation.server->Log().find("no checkpoint of round 1"), std::string::npos)
      << federation.server->Log();
  const std::string audit = TextOf(federation.folder.path() / "served" / "audit.jsonl");
  EXPECT_NE(audit.find("no checkpoint of this round"), std::string::npos) << audit;
  EXPECT_NE(audit.find("the trained model could not be saved"), std::string::npos) << audit;
  federation.Serve();
  EXPECT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
  EXPECT_EQ(federation.ServedDigest(), digest);
  Process& full = *federation.joined[0];
  EXPECT_EQ(full.Wait(60), 3) << full.Log();
  EXPECT_NE(full.Log().find("round 1 could not be kept"), std::string::npos) << full.Log();
  for (int i = 1; i < 5; ++i) {
    Process& client = *federation.joined[static_cast<size_t>(i)];
    EXPECT_EQ(client.Wait(60), 0) << client.Log();
    const auto run = federation.folder.path() / fmt::format("joined-{}", i);
    EXPECT_EQ(FederationSummary(run)["model_digest"], digest);
  }
}

// Weights are rounded on their way: clients end with what was sent, and the coordinator says what
// that is.
TEST(Federation, HalfFloatsEndWithOneModelAtEveryClient) {
  Federation federation(kTinyFile +
                            " --set partition.clients=2 --set data.limit=100"
                            " --set server.half=true",
                        2);
  federation.address = FreeAddress();
  federation.Issue();
  federation.Serve();
  for (int i = 0; i < 2; ++i) federation.Join(i);
  EXPECT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
  const auto served = FederationSummary(federation.folder.path() / "served");
  EXPECT_NE(served["sent_digest"], served["model_digest"]);
  for (int i = 0; i < 2; ++i) {
    auto& client = *federation.joined[static_cast<size_t>(i)];
    EXPECT_EQ(client.Wait(30), 0) << client.Log();
    const auto run = federation.folder.path() / fmt::format("joined-{}", i);
    EXPECT_EQ(FederationSummary(run)["model_digest"], served["sent_digest"]);
  }
}

TEST(Federation, AKitThatIsUsedTwiceIsAnAlarm) {
  Federation federation(kTinyFile + " --set partition.clients=2 --set train.rounds=6", 2);
  federation.address = FreeAddress();
  federation.Issue();
  federation.Serve();
  for (int i = 0; i < 2; ++i) federation.Join(i);
  Process twin(federation.folder.path(),
               fmt::format("join --kit kit-c0 --config {} --set client.share=0/2 --out twin",
                           federation.config),
               "twin.log");
  EXPECT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
  const std::string audit = TextOf(federation.folder.path() / "served" / "audit.jsonl");
  const std::string why = "two processes take part as c0";
  const size_t at = audit.find(why);
  EXPECT_NE(at, std::string::npos) << audit;
  EXPECT_EQ(audit.find(why, at + 1), std::string::npos) << "told once";
  EXPECT_EQ(audit.find("two processes take part as c1"), std::string::npos);
}

TEST(Federation, PlainTextIsForThisMachineAlone) {
  Federation federation(kTinyFile, 2);
  federation.address = "192.0.2.1:7433";
  federation.Issue();
  const std::string serve =
      "serve --plain-text --config " + kTinyFile + " --pki pki --out served --listen ";
  ExpectFailure(Kindred(federation.folder, serve + "0.0.0.0:0"), 4,
                "plain text is for this machine");
  EXPECT_FALSE(FileExists(federation.folder.path() / "served"));
  const Ran joined = Kindred(
      federation.folder, "join --plain-text --kit kit-c0 --config " + kTinyFile + " --out joined");
  EXPECT_EQ(joined.code, 4) << joined.err;
  EXPECT_NE(joined.err.find("plain text is for this machine"), std::string::npos) << joined.err;
}

TEST(Federation, ACoordinatorThatMayComeToNeedTooMuchMemoryDoesNotStart) {
  Federation federation(kTinyFile, 2);
  federation.address = FreeAddress();
  federation.Issue();
  const std::string serve = "serve --config " + kTinyFile +
                            " --pki pki --out served --listen 127.0.0.1:0 --set server.memory=";
  ExpectFailure(Kindred(federation.folder, serve + "100"), 2, "server.memory allows 100 MB");
  EXPECT_FALSE(FileExists(federation.folder.path() / "served"));
}

// Files that may hold what only their owner may know.
std::vector<std::string> FilesWith(const std::filesystem::path& folder, const std::string& word) {
  std::vector<std::string> found;
  for (const auto& name : FilesBelow(folder)) {
    const auto path = folder / name;
    if (!std::filesystem::is_regular_file(path)) continue;
    if (name.find(word) != std::string::npos || TextOf(path).find(word) != std::string::npos) {
      found.push_back(name);
    }
  }
  return found;
}

// What an owner calls its images and their classes stays with it: no file of the coordinator has
// it, and nothing that a client leaves but the folder that it was told to read.
TEST(Federation, NamesOfFilesAndClassesAndKeysAreInNothingThatIsWritten) {
  Federation federation(kTinyFile +
                            " --set data.name=folder --set data.size=16 --set train.rounds=1"
                            " --set ccl.bank=16 --set train.batch=8",
                        2);
  const auto& folder = federation.folder.path();
  std::mt19937 random(1);
  for (int i = 0; i < 2 * 2 * 12; ++i) {
    Bytes pixels(3 * 20 * 20);
    for (auto& pixel : pixels) pixel = static_cast<uint8_t>(random());
    const auto place =
        folder / fmt::format("canary-owner-{}", i % 2) / fmt::format("canary-class-{}", i / 2 % 2);
    std::filesystem::create_directories(place);
    WriteFileAtomically(place / fmt::format("canary-file-{}.png", i),
                        EncodePng(pixels, {3, 20, 20}));
  }
  federation.address = FreeAddress();
  federation.Issue();
  federation.Serve();
  for (int i = 0; i < 2; ++i) federation.JoinWith(i, fmt::format("--data canary-owner-{}", i));
  ASSERT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
  for (const auto& client : federation.joined) ASSERT_EQ(client->Wait(60), 0) << client->Log();
  const std::string key = TextOf(folder / "kit-c0" / "client.key");
  const std::string secret = TextOf(folder / "joined-0" / "state" / "secret");
  ASSERT_EQ(secret.size(), 32u);
  const std::vector<std::string> kNone;
  EXPECT_EQ(FilesWith(folder / "served", "canary"), kNone);
  EXPECT_EQ(FilesWith(folder / "served", secret), kNone);
  EXPECT_EQ(FilesWith(folder / "joined-0", "canary-file"), kNone);
  EXPECT_EQ(FilesWith(folder / "joined-0", "canary-class"), kNone);
  EXPECT_EQ(FilesWith(folder / "joined-0", "canary-owner"),
            std::vector<std::string>{"config.toml"});
  EXPECT_EQ(FilesWith(folder / "joined-0", secret), std::vector<std::string>{"state/secret"});
  const std::string body = key.substr(key.find('\n') + 40, 60);  // past what all keys share
  for (const char* place : {"served", "joined-0", "joined-1"}) {
    EXPECT_EQ(FilesWith(folder / place, body), kNone) << place;
  }
  EXPECT_EQ(federation.server->Log().find("canary"), std::string::npos) << federation.server->Log();
  EXPECT_FALSE(FilesWith(folder, "canary-file").empty()) << "the look itself";
}

// Whoever is killed at whatever moment: the model is the same.
void KillAtRandom(const std::string& config, int runs, double most) {
  std::mt19937 random(runs);
  std::string digest;
  for (int run = 0; run < runs; ++run) {
    Federation federation(config, 5);
    federation.address = FreeAddress();
    federation.Issue();
    if (digest.empty()) digest = federation.TrainDigest();
    federation.Serve();
    for (int i = 0; i < 5; ++i) federation.Join(i);
    const int kills = 1 + static_cast<int>(random() % 4);
    for (int k = 0; k < kills; ++k) {
      std::this_thread::sleep_for(
          std::chrono::duration<double>(most * static_cast<double>(random() % 1000) / 1000));
      const int victim = static_cast<int>(random() % 7) - 1;  // the coordinator twice as often
      if (victim < 1) {
        if (federation.server->Ended()) break;
        federation.server->Kill();
        federation.Serve();
      } else if (auto& client = federation.joined[static_cast<size_t>(victim - 1)];
                 !client->Ended()) {
        client->Kill();
        federation.Join(victim - 1);
      }
    }
    EXPECT_EQ(federation.server->Wait(300), 0) << federation.server->Log();
    EXPECT_EQ(federation.ServedDigest(), digest) << "run " << run << federation.server->Log();
    for (int i = 0; i < 5; ++i) {
      auto& client = *federation.joined[static_cast<size_t>(i)];
      EXPECT_EQ(client.Wait(120), 0) << client.Log();
    }
  }
}

TEST(Federation, KillsOfAnyoneAtAnyMomentDoNotChangeTheModel) {
  KillAtRandom(kTinyFile +
                   " --set train.rounds=4 --set data.limit=200 --set features.max_age=2"
                   " --set features.max_remote=60 --set server.linger=120",
               25, 3);
}

}  // namespace
}  // namespace kindred
