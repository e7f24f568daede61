// `mpirun kindred train` as users type it: the same model on any number of ranks.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/process.h"
#include "tests/program.h"

namespace kindred {
namespace {

const std::string kTinyRun = "train --config '" KINDRED_SOURCE_DIR "/configs/tiny.toml'";

nlohmann::json RankSummary(const TemporaryFolder& folder, const std::string& run) {
  const Bytes bytes = ReadFile(folder.path() / run / "summary.json", 1 << 20);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

bool HasMpirun() { return std::system("command -v mpirun > /dev/null 2>&1") == 0; }

std::string OnRanks(int ranks) {
  return fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "
      "--bind-to none -n {}",
      ranks);
}

class Ranks_ : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasMpirun()) GTEST_SKIP() << "no mpirun here (openmpi-bin)";
    const Ran asked = Kindred(folder, "train --set train.batch=0", OnRanks(1));
    if (asked.err.find("built without MPI") != std::string::npos) GTEST_SKIP() << asked.err;
  }
  TemporaryFolder folder = TestFolder();

  // Waits until a run in cut/ has committed its second round, or is over.
  void AwaitSecondRound(Process& process) {
    const auto record = folder.path() / "cut" / "checkpoints" / "commit.json";
    for (int i = 0; i < 3000 && !process.Ended(); ++i) {
      if (FileExists(record)) {
        const Bytes bytes = ReadFile(record, 1 << 20);
        if (std::string(bytes.begin(), bytes.end()).find("round-2") != std::string::npos) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  // What was cut goes on on two ranks, and ends with the digest of alone/.
  void ExpectTheCutRunGoesOn() {
    const Ran ran = Kindred(folder, "train --resume --out cut", OnRanks(2));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.err.find("going on after round"), std::string::npos) << ran.err;
    EXPECT_EQ(RankSummary(folder, "cut")["model_digest"],
              RankSummary(folder, "alone")["model_digest"]);
  }

  // The digest of a run with these settings, trained by one process and by ranks.
  void ExpectOneDigest(const std::string& settings, const std::vector<int>& ranks) {
    const Ran alone = Kindred(folder, kTinyRun + settings + " --out alone");
    ASSERT_EQ(alone.code, 0) << alone.err;
    for (const int count : ranks) {
      const Ran ran = Kindred(folder, fmt::format("{}{} --out on-{}", kTinyRun, settings, count),
                              OnRanks(count));
      ASSERT_EQ(ran.code, 0) << ran.err;
      const auto summary = RankSummary(folder, fmt::format("on-{}", count));
      EXPECT_EQ(summary["model_digest"], RankSummary(folder, "alone")["model_digest"]) << count;
      EXPECT_EQ(summary["ranks"], count);
      for (const char* key : {"images", "bytes_up", "bytes_down", "knn_last"}) {
        EXPECT_EQ(summary[key], RankSummary(folder, "alone")[key]) << key;
      }
      EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'),
                std::count(alone.out.begin(), alone.out.end(), '\n'))
          << "rank 0 alone speaks: " << ran.out;
    }
  }
};

TEST_F(Ranks_, OneDigestOnOneTwoAndFour) { ExpectOneDigest("", {1, 2, 4}); }

// States that clients keep, features that are shared, and a rank whose clients are not asked.
TEST_F(Ranks_, OneDigestWithStatesAndFewClients) {
  ExpectOneDigest(
      " --config '" KINDRED_SOURCE_DIR
      "/configs/methods/fedema.toml' --set train.participation=0.4 --set train.rounds=3",
      {3});
}

// More ranks than clients: some have nothing to do.
TEST_F(Ranks_, OneDigestWithIdleRanks) { ExpectOneDigest(" --set train.rounds=1", {7}); }

TEST_F(Ranks_, OneDigestWithARuleThatKeepsModels) {
  ExpectOneDigest(" --set server.rule=median", {2});
}

TEST_F(Ranks_, OneDigestWithAServerOptimizerAndFeaturesOfTheGlobalModel) {
  ExpectOneDigest(" --set server.optimizer=momentum --set features.encoder=global", {2});
}

// Rank 0 alone has what the optimiser keeps.
TEST_F(Ranks_, ARunOfFourRanksGoesOnOnTwo) {
  const std::string settings = " --set train.rounds=20 --set server.optimizer=adam";
  ASSERT_EQ(Kindred(folder, kTinyRun + settings + " --out alone").code, 0);
  // Stopped after its second checkpoint; what was committed is whole.
  {
    Process process(folder.path(), kTinyRun + settings + " --out cut", "cut.log",
                    "exec env " + OnRanks(4));
    AwaitSecondRound(process);
    process.Signal(SIGTERM);  // mpirun ends its ranks
    EXPECT_NE(process.Wait(60).value_or(0), 0) << process.Log();
  }
  ExpectTheCutRunGoesOn();
  const Ran again = Kindred(folder, "train --resume --out cut", OnRanks(2));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("the run is finished"), std::string::npos) << again.err;
}

// Pids of the processes that this one has started.
std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  std::FILE* pipe = ::popen(fmt::format("pgrep -P {}", parent).c_str(), "r");
  int pid = 0;
  while (std::fscanf(pipe, "%d", &pid) == 1) children.push_back(pid);
  ::pclose(pipe);
  return children;
}

TEST_F(Ranks_, ARankThatIsKilledEndsTheJobAndTheRunGoesOnFromItsLastRound) {
  const std::string settings = " --set train.rounds=6";
  ASSERT_EQ(Kindred(folder, kTinyRun + settings + " --out alone").code, 0);
  {
    Process process(folder.path(), kTinyRun + settings + " --out cut", "cut.log",
                    "exec env " + OnRanks(3));
    AwaitSecondRound(process);
    const auto ranks = ChildrenOf(process.pid());
    ASSERT_EQ(ranks.size(), 3u) << process.Log();
    ::kill(ranks.back(), SIGKILL);
    const auto code = process.Wait(60);
    ASSERT_TRUE(code) << "the others go on: " << process.Log();
    EXPECT_NE(*code, 0) << process.Log();
  }
  EXPECT_FALSE(FileExists(folder.path() / "cut" / "summary.json"));
  ExpectTheCutRunGoesOn();
}

TEST_F(Ranks_, WhatOneRankCannotDoEndsAllWithItsLine) {
  const Ran wrong = Kindred(folder, "train --set train.batch=0 --out run", OnRanks(2));
  EXPECT_EQ(wrong.code, 2) << wrong.err;
  EXPECT_NE(wrong.err.find("train.batch = 0"), std::string::npos) << wrong.err;
  const Ran diverged = Kindred(folder, kTinyRun + " --set train.lr=900 --out run2", OnRanks(2));
  EXPECT_EQ(diverged.code, 2) << diverged.err;
  EXPECT_NE(diverged.err.find("of 2: round 1"), std::string::npos) << diverged.err;
}

}  // namespace
}  // namespace kindred
