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

TEST_F(Ranks_, ARunOfFourRanksGoesOnOnTwo) {
  const std::string settings = " --set train.rounds=6";
  ASSERT_EQ(Kindred(folder, kTinyRun + settings + " --out alone").code, 0);
  // Killed after its second checkpoint; what was committed is whole.
  const auto record = folder.path() / "cut" / "checkpoints" / "commit.json";
  {
    Process process(folder.path(), kTinyRun + settings + " --out cut", "cut.log",
                    "exec env " + OnRanks(4));
    for (int i = 0; i < 3000 && !process.Ended(); ++i) {
      if (FileExists(record)) {
        const Bytes bytes = ReadFile(record, 1 << 20);
        if (std::string(bytes.begin(), bytes.end()).find("round-2") != std::string::npos) break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    process.Signal(SIGTERM);  // mpirun ends its ranks
    EXPECT_NE(process.Wait(60).value_or(0), 0) << process.Log();
  }
  const Ran ran = Kindred(folder, "train --resume --out cut", OnRanks(2));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("going on after round"), std::string::npos) << ran.err;
  EXPECT_EQ(RankSummary(folder, "cut")["model_digest"],
            RankSummary(folder, "alone")["model_digest"]);
  const Ran again = Kindred(folder, "train --resume --out cut", OnRanks(2));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("the run is finished"), std::string::npos) << again.err;
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
