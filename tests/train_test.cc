// `kindred train` as a user types it: one digest whatever happens, and what it refuses.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/rng.h"
#include "tests/folders.h"
#include "tests/program.h"

namespace kindred {
namespace {

const std::string kTiny = "train --config '" KINDRED_SOURCE_DIR "/configs/tiny.toml'";
// Small enough to be killed and resumed many times: 6 rounds with 3 of 5 clients each.
const std::string kTinySix =
    kTiny +
    " --set train.rounds=6 --set train.participation=0.6 --set data.limit=200"
    " --set features.max_age=2 --set features.max_remote=60"
    " --set eval.every=3 --set eval.limit=50";

nlohmann::json SummaryOf(const TemporaryFolder& folder, const std::string& out) {
  const Bytes bytes = ReadFile(folder.path() / out / "summary.json", 1 << 20);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

std::string DigestIn(const TemporaryFolder& folder, const std::string& out) {
  return SummaryOf(folder, out)["model_digest"];
}

// Starts the program and ends it with `signal` when `wait` returns, unless it ends before. True: it
// was ended.
bool RunAndSignal(const TemporaryFolder& folder, const std::string& arguments,
                  const std::function<void(pid_t child)>& wait, int signal) {
  const std::string command =
      fmt::format("cd '{}' && XDG_CACHE_HOME='{}/.cache' exec {} {} >/dev/null 2>&1",
                  folder.path().string(), folder.path().string(), KINDRED_PROGRAM, arguments);
  std::string shell = "/bin/sh", flag = "-c", text = command;
  char* words[] = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, shell.c_str(), nullptr, nullptr, words, environ), 0);
  wait(child);
  ::kill(child, signal);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) || WEXITSTATUS(status) == 130;
}

// The same after a time.
bool RunAndSignal(const TemporaryFolder& folder, const std::string& arguments,
                  std::chrono::microseconds delay, int signal) {
  return RunAndSignal(
      folder, arguments, [&](pid_t) { std::this_thread::sleep_for(delay); }, signal);
}

// The same as soon as a file is there.
bool RunUntilFile(const TemporaryFolder& folder, const std::string& arguments,
                  const std::filesystem::path& file) {
  const auto wait = [&](pid_t child) {
    siginfo_t ended = {};
    while (!std::filesystem::exists(folder.path() / file) && ended.si_pid == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
    }
  };
  return RunAndSignal(folder, arguments, wait, SIGKILL);
}

TEST(Train, WorkersDoNotChangeTheModel) {
  const auto folder = TestFolder();
  for (const int workers : {1, 2, 4}) {
    const std::string out = fmt::format("w{}", workers);
    const Ran ran =
        Kindred(folder, fmt::format("{} --workers {} --out {}", kTinySix, workers, out));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(DigestIn(folder, out), DigestIn(folder, "w1"));
    // Losses and accuracies are the same numbers, too.
    EXPECT_EQ(SummaryOf(folder, out)["knn_last"], SummaryOf(folder, "w1")["knn_last"]);
    EXPECT_EQ(SummaryOf(folder, out)["diagnostics"], SummaryOf(folder, "w1")["diagnostics"]);
  }
  const Ran spilled = Kindred(folder, kTinySix + " --set train.memory=0 --out spilled");
  ASSERT_EQ(spilled.code, 0) << spilled.err;
  EXPECT_EQ(DigestIn(folder, "spilled"), DigestIn(folder, "w1"));
  const Ran other = Kindred(folder, kTinySix + " --set train.seed=1 --out seed1");
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_NE(DigestIn(folder, "seed1"), DigestIn(folder, "w1"));
}

// Whatever the method: what its clients keep is in memory or spilled, in one process or two.
TEST(Train, EveryMethodHasOneDigestForAnyWorkersAndAfterAKill) {
  const auto folder = TestFolder();
  const auto methods = nlohmann::json::parse(Kindred(folder, "list methods --json").out)["methods"];
  ASSERT_GE(methods.size(), 10u);
  std::set<std::string> digests;
  for (const auto& method : methods) {
    const std::string name = method["name"];
    const auto run = [&](const std::string& out, const std::string& more) {
      return fmt::format(
          "{} --config '{}/configs/methods/{}.toml' --set train.rounds=4 --set train.epochs=2 "
          "--set train.participation=0.6 --set data.limit=150 --set train.batch=16 --set "
          "model.width=4 --set eval.every=4 --set eval.limit=20 --out {}-{} {}",
          kTiny, KINDRED_SOURCE_DIR, name, name, out, more);
    };
    const Ran one = Kindred(folder, run("one", "--workers 1"));
    ASSERT_EQ(one.code, 0) << one.err;
    const std::string digest = DigestIn(folder, name + "-one");
    EXPECT_TRUE(digests.insert(digest).second) << name << " is another method";
    EXPECT_TRUE(
        RunUntilFile(folder, run("two", "--workers 2"), name + "-two/checkpoints/commit.json"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / (name + "-two/summary.json")));
    const Ran two = Kindred(folder, run("two", "--workers 2 --resume --set train.memory=0"));
    ASSERT_EQ(two.code, 0) << two.err;
    EXPECT_EQ(DigestIn(folder, name + "-two"), digest) << name;
  }
}

// A simulation obeys the server's rule, and refuses one that its rounds cannot have.
TEST(Train, EveryRuleHasOneModelForAnyWorkers) {
  const auto folder = TestFolder();
  std::set<std::string> digests;
  for (const std::string rule : {"mean", "median", "trimmed", "krum"}) {
    for (const int workers : {1, 2}) {
      const Ran ran = Kindred(
          folder,
          fmt::format("{} --set train.rounds=2 --set train.participation=1 --set server.rule={} "
                      "--workers {} --out {}{}",
                      kTinySix, rule, workers, rule, workers));
      ASSERT_EQ(ran.code, 0) << ran.err;
    }
    EXPECT_EQ(DigestIn(folder, rule + "1"), DigestIn(folder, rule + "2"));
    EXPECT_TRUE(digests.insert(DigestIn(folder, rule + "1")).second) << rule;
  }
  ExpectFailure(Kindred(folder, kTinySix + " --set server.rule=krum --set server.byzantine=40"), 2,
                "needs 83 clients per round");
  const Ran bound = Kindred(folder, kTinySix + " --set server.max_norm=1e-9 --out bound");
  EXPECT_EQ(bound.code, 2);
  EXPECT_NE(bound.err.find("norm: "), std::string::npos) << bound.err;
}

// What a server's optimiser keeps is in the checkpoints.
TEST(Train, EveryOptimizerHasOneModelForAnyWorkersAndAfterAKill) {
  const auto folder = TestFolder();
  const auto kinds =
      nlohmann::json::parse(Kindred(folder, "list optimizers --json").out)["optimizers"];
  ASSERT_GE(kinds.size(), 4u);
  std::set<std::string> digests;
  for (const auto& kind : kinds) {
    const std::string name = kind["name"];
    const auto run = [&](const std::string& out, const std::string& more) {
      return fmt::format("{} --set server.optimizer={} --out {}-{} {}", kTinySix, name, name, out,
                         more);
    };
    const Ran one = Kindred(folder, run("one", "--workers 1"));
    ASSERT_EQ(one.code, 0) << one.err;
    const std::string digest = DigestIn(folder, name + "-one");
    EXPECT_TRUE(digests.insert(digest).second) << name << " is another optimiser";
    RunUntilFile(folder, run("two", "--workers 2"), name + "-two/checkpoints/commit.json");
    const Ran two = Kindred(folder, run("two", "--workers 2 --resume"));
    ASSERT_EQ(two.code, 0) << two.err;
    EXPECT_EQ(DigestIn(folder, name + "-two"), digest) << name;
  }
  ExpectFailure(
      Kindred(folder, "train --resume --out adam-one --set server.optimizer=yogi"), 2,
      "was started with server.optimizer = \"adam\", now it is server.optimizer = \"yogi\"");
}

// One client a round: further workers become threads inside its convolutions.
TEST(Train, ThreadsInsideAClientDoNotChangeTheModel) {
  const auto folder = TestFolder();
  for (const int workers : {1, 3}) {
    const std::string out = fmt::format("t{}", workers);
    const Ran ran = Kindred(folder, fmt::format("{} --set train.participation=0.2 --workers {} "
                                                "--out {}",
                                                kTinySix, workers, out));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(SummaryOf(folder, out)["workers"], 1);
    EXPECT_EQ(DigestIn(folder, out), DigestIn(folder, "t1"));
  }
}

// The same training by both engines: digests differ, what is learned hardly does.
TEST(Train, BothEnginesTrainAlike) {
  const auto folder = TestFolder();
  for (const std::string engine : {"fast", "torch"}) {
    const Ran ran = Kindred(folder, fmt::format("{} --set train.engine={} --set train.rounds=1 "
                                                "--out {}",
                                                kTiny, engine, engine));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(SummaryOf(folder, engine)["engine"], engine);
  }
  EXPECT_NE(DigestIn(folder, "fast"), DigestIn(folder, "torch"));
  const auto loss = [&](const std::string& out) {
    const Bytes text = ReadFile(folder.path() / out / "metrics.jsonl", 1 << 20);
    std::istringstream lines(std::string(text.begin(), text.end()));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line);
      if (json["kind"] == "round") return json["loss"].get<double>();
    }
    return std::nan("");
  };
  const double fast = loss("fast"), torch = loss("torch");
  EXPECT_NEAR(fast, torch, 0.01 * std::abs(torch));
  const Ran resumed =
      Kindred(folder, kTiny + " --set train.rounds=1 --set train.engine=torch --resume --out fast");
  EXPECT_EQ(resumed.code, 2);
  EXPECT_NE(resumed.err.find("train.engine"), std::string::npos) << resumed.err;
}

TEST(Train, ARunKilledAtTwentyFiveMomentsEndsWithTheSameModel) {
  const auto folder = TestFolder();
  const auto start = std::chrono::steady_clock::now();
  const Ran whole = Kindred(folder, kTinySix + " --out whole");
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto length = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  const std::string digest = DigestIn(folder, "whole");
  const auto lines = [&](const std::string& out) {
    const Bytes text = ReadFile(folder.path() / out / "metrics.jsonl", 1 << 20);
    return std::count(text.begin(), text.end(), '\n');
  };
  Rng rng({.purpose = Purpose::kPreview});
  int kills = 0, runs = 0;
  while (kills < 25) {
    const std::string out = fmt::format("killed{}", runs++);
    const std::string command = kTinySix + " --resume --out " + out;
    for (int in_this_run = 0; in_this_run < 5; ++in_this_run) {
      const auto delay =
          std::chrono::microseconds(rng.Below(static_cast<uint64_t>(length.count())));
      kills += RunAndSignal(folder, command, delay, SIGKILL) ? 1 : 0;
    }
    const Ran ran = Kindred(folder, command);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(DigestIn(folder, out), digest) << "after " << kills << " kills";
    EXPECT_EQ(lines(out), lines("whole"));  // no round is told twice
    EXPECT_EQ(SummaryOf(folder, out)["diagnostics"], SummaryOf(folder, "whole")["diagnostics"]);
  }
}

TEST(Train, CclWithLocalNegativesAndNoMatchingIsMoco) {
  const auto folder = TestFolder();
  ASSERT_EQ(Kindred(folder, kTiny + " --set method.name=moco --out moco").code, 0);
  ASSERT_EQ(Kindred(folder, kTiny + " --set ccl.negatives=local --set ccl.lambda=0 --out ccl").code,
            0);
  ASSERT_EQ(Kindred(folder, kTiny + " --out whole").code, 0);
  EXPECT_EQ(DigestIn(folder, "ccl"), DigestIn(folder, "moco"));
  EXPECT_NE(DigestIn(folder, "whole"), DigestIn(folder, "moco"));
}

// Eq. 4 (union) and Eq. 5 (remote), for disjoint, overlapping and equal classes. With five clients
// a weight of 4 is the paper's plain sum. A measured ratio is a mean over clients and steps of what
// 32 queries meet among some hundred negatives: its deviation is below .01.
TEST(Train, MeasuredFalseNegativesAreThoseOfThePapersEquations) {
  const auto folder = TestFolder();
  int run = 0;
  for (const char* scheme : {"noniid1", "noniid2", "iid"}) {
    for (const char* negatives : {"union", "remote", "local"}) {
      const std::string out = fmt::format("run{}", run++);
      const Ran ran =
          Kindred(folder, fmt::format("{} --set partition.scheme={} --set ccl.negatives={} "
                                      "--set features.weight=4 --out {}",
                                      kTiny, scheme, negatives, out));
      ASSERT_EQ(ran.code, 0) << ran.err;
      const auto diagnostics = SummaryOf(folder, out)["diagnostics"];
      const double measured = diagnostics["false_negatives"],
                   predicted = diagnostics["false_negatives_predicted"];
      EXPECT_NEAR(measured, predicted, 0.03) << scheme << " " << negatives;
      if (std::string(scheme) == "noniid1") {
        // Two classes each, disjoint: 1/2 alone, near 1/10 with four others, none without oneself.
        const std::string name = negatives;
        EXPECT_NEAR(predicted, name == "local" ? 0.5 : name == "union" ? 0.1 : 0.0, 0.01) << name;
      }
    }
  }
}

TEST(Train, AnInterruptedRunSaysHowToGoOn) {
  const auto folder = TestFolder();
  ASSERT_EQ(Kindred(folder, kTinySix + " --out whole").code, 0);
  // A signal that comes before training starts ends the program as signals do; later, it stops at
  // the next step.
  RunAndSignal(folder, kTinySix + " --set train.workers=1 --out stopped",
               std::chrono::milliseconds(700), SIGINT);
  const Ran ran = Kindred(folder, kTinySix + " --resume --out stopped");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(DigestIn(folder, "stopped"), DigestIn(folder, "whole"));
}

const std::string kFedca = " --config '" KINDRED_SOURCE_DIR "/configs/methods/fedca.toml'";

// How often the run's log says that the base model is trained.
int BaseModelsIn(const TemporaryFolder& folder, const std::string& out) {
  const auto log = folder.path() / out / "train.log";
  if (!FileExists(log)) return 0;
  const Bytes bytes = ReadFile(log, 1 << 20);
  const std::string text(bytes.begin(), bytes.end()), said = "a base model learns";
  int count = 0;
  for (size_t at = text.find(said); at != text.npos; at = text.find(said, at + 1)) ++count;
  return count;
}

TEST(Train, FedcaTrainsItsBaseModelOnceARunAndStopsItWhenAskedTo) {
  const auto folder = TestFolder();
  const auto metrics = folder.path() / "stopped" / "metrics.jsonl";
  const auto base_begins = [&](pid_t) {  // after the look at the random start
    while (!FileExists(metrics) || std::filesystem::file_size(metrics) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  EXPECT_TRUE(RunAndSignal(folder, kTiny + kFedca + " --set fedca.base_epochs=10000 --out stopped",
                           base_begins, SIGTERM))
      << "hours of training";
  const std::string six = kTinySix + kFedca;
  ASSERT_EQ(Kindred(folder, six + " --out whole").code, 0);
  EXPECT_EQ(BaseModelsIn(folder, "whole"), 1);
  RunUntilFile(folder, six + " --out killed", "killed/checkpoints/commit.json");
  const Ran ran = Kindred(folder, six + " --resume --out killed");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(BaseModelsIn(folder, "killed"), 1);
  EXPECT_EQ(DigestIn(folder, "killed"), DigestIn(folder, "whole"));
}

TEST(Train, MissingPublicImagesAreFoundBeforeAFolderIsMade) {
  const auto folder = TestFolder();
  ExpectFailure(Kindred(folder, kTiny + kFedca + " --set fedca.public_data=mnist --out run"), 3,
                "mnist");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
}

TEST(Train, SaysWhenAMethodCannotLearnFromItsBatches) {
  const auto folder = TestFolder();
  const std::string simclr =
      kTiny + " --config '" KINDRED_SOURCE_DIR "/configs/methods/simclr.toml'";
  ExpectFailure(Kindred(folder, simclr + " --set model.bn_splits=2 --out run"), 2,
                "model.bn_splits = 2");
  const Ran ran = Kindred(folder, simclr +
                                      " --set data.limit=10 --set partition.scheme=iid "
                                      "--set partition.clients=10 --set train.rounds=1 --out run");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("10 of 10 clients have one image"), std::string::npos) << ran.err;
}

TEST(Train, KeepsToItsFolder) {
  const auto folder = TestFolder();
  const Ran first = Kindred(folder, kTinySix + " --out run");
  ASSERT_EQ(first.code, 0) << first.err;
  for (const char* name : {"config.toml", "metrics.jsonl", "summary.json", "train.log",
                           "checkpoints/commit.json", "tensorboard/events.out.tfevents.kindred"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "run" / name)) << name;
  }
  EXPECT_EQ(FilesBelow(folder.path() / "run" / "checkpoints").size(),
            3u);  // two generations, a record
  ExpectFailure(Kindred(folder, kTinySix + " --out run"), 5, "--resume");
  const Ran again = Kindred(folder, "train --resume --out run");  // its own configuration
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.err.find("the run is finished"), std::string::npos);
  EXPECT_EQ(again.out, first.out);
  ExpectFailure(Kindred(folder, kTinySix + " --resume --out run --set train.lr=0.01"), 2,
                "train.lr = 0.06, now it is train.lr = 0.01");
}

TEST(Train, PrintsOneJsonObject) {
  const auto folder = TestFolder();
  const Ran ran = Kindred(folder, kTinySix + " --json --out run");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out), SummaryOf(folder, "run"));
}

TEST(Train, ADamagedCheckpointGivesWayToTheOneBefore) {
  const auto folder = TestFolder();
  ASSERT_EQ(Kindred(folder, kTinySix + " --out run").code, 0);
  const std::string digest = DigestIn(folder, "run");
  const auto newest = folder.path() / "run" / "checkpoints" / "round-6.safetensors";
  Bytes bytes = ReadFile(newest, 1 << 28);
  bytes[bytes.size() / 2] ^= 1;
  WriteFileAtomically(newest, bytes);
  std::filesystem::remove(folder.path() / "run" / "summary.json");
  const Ran ran = Kindred(folder, "train --resume --out run");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("round-6.safetensors: damaged"), std::string::npos) << ran.err;
  EXPECT_EQ(DigestIn(folder, "run"), digest);
}

// A file may not grow beyond 100 kB: checkpoints fail as on a full disk. Training goes on, but a
// model that could not be saved is no success.
TEST(Train, AFullDiskIsAWarningUntilTheEnd) {
  const auto folder = TestFolder();
  ASSERT_EQ(Kindred(folder, kTinySix + " --out whole").code, 0);
  const Ran ran =
      Kindred(folder, kTinySix + " --out full", "bash -c 'ulimit -f 100; exec \"$@\"' -");
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_NE(ran.err.find("no checkpoint of round 1"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("make room, then --resume"), std::string::npos) << ran.err;
  EXPECT_TRUE(FilesBelow(folder.path() / "full" / "checkpoints").empty());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "full" / "summary.json"));
  ASSERT_EQ(Kindred(folder, "train --resume --out full").code, 0);
  EXPECT_EQ(DigestIn(folder, "full"), DigestIn(folder, "whole"));
}

TEST(Train, GoesOnOnlyWithItsOwnConfiguration) {
  const auto folder = TestFolder();
  ASSERT_EQ(Kindred(folder, kTinySix + " --out run").code, 0);
  std::filesystem::remove(folder.path() / "run" / "summary.json");
  const Bytes bytes = ReadFile(folder.path() / "run" / "config.toml", 1 << 20);
  std::string text(bytes.begin(), bytes.end());
  text.replace(text.find("width = 8"), 9, "width = 4");
  WriteFileAtomically(folder.path() / "run" / "config.toml", std::string_view(text));
  ExpectFailure(Kindred(folder, "train --resume --out run"), 2, "another configuration");
}

TEST(Train, RefusesWhatCannotBeTrained) {
  const auto folder = TestFolder();
  const auto expect = [&](const std::string& set, const std::string& part) {
    ExpectFailure(Kindred(folder, kTiny + " --out run --set " + set), 2, part);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "run")) << set;
  };
  expect("train.rounds=0", "train.rounds = 0");
  expect("train.participation=0", "train.participation = 0");
  expect("partition.clients=501", "more clients than the 500");
  expect("partition.clients=3", "cannot be dealt");
  expect("ccl.bank=16", "ccl.bank = 16 is below train.batch = 32");
  expect("model.bn_splits=5", "not a multiple of model.bn_splits");
  expect("method.name=mocco", "one of ccl, moco");
  expect("partition.scheme=iid --set partition.clients=200", "client 0 has 3 images");
  expect("ccl.neighbors=64", "ccl.neighbors = 64");
  expect("server.momentum=1", "server.momentum = 1");
  expect("server.lr=-1", "server.lr = -1");
  expect("server.optimizer=lion", "one of none, momentum, adam, yogi");
  expect("features.weight=-1", "features.weight = -1");
  expect("partition.scheme=oneclass --set partition.clients=3", "one client for each of the");
}

TEST(Train, UnlabeledImagesNeedNoLabels) {
  const auto folder = TestFolder();
  for (int i = 0; i < 12; ++i) {
    WriteFlatPng(folder.path() / "images" / fmt::format("{}.png", i), 20, 20,
                 static_cast<uint8_t>(20 * i), 100, static_cast<uint8_t>(255 - 20 * i));
  }
  const Ran ran =
      Kindred(folder, kTiny +
                          " --set data.name=folder --set data.path=images --set data.size=16"
                          " --set data.limit=0 --set partition.scheme=iid"
                          " --set partition.clients=2 --out run");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(SummaryOf(folder, "run").contains("knn_last"));
}

}  // namespace
}  // namespace kindred
