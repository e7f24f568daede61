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
    joined[static_cast<size_t>(i)] = std::make_unique<Process>(
        folder.path(),
        fmt::format("join --kit kit-c{0} --config {1} --set client.share={0}/{2} --set "
                    "client.key=seeded --set train.workers=1 --out joined-{0}",
                    i, config, clients),
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
  for (int i = 0; i < 5; ++i) {
    auto& client = *federation.joined[static_cast<size_t>(i)];
    EXPECT_EQ(client.Wait(30), 0) << client.Log();
    const auto run = federation.folder.path() / fmt::format("joined-{}", i);
    EXPECT_EQ(FederationSummary(run)["model_digest"], digest);
  }
  const Ran exported = Kindred(federation.folder, "export --run joined-3 --out exported");
  EXPECT_EQ(exported.code, 0) << exported.err;
  const Ran again =
      Kindred(federation.folder, "join --kit kit-c0 --config " + kTinyFile + " --out joined-0");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("finished"), std::string::npos) << again.err;
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
