#include "server/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <torch/torch.h>

#include <csignal>

#include "base/digest.h"
#include "model/safetensors.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

RunState CheckpointState(int round) {
  RunState state;
  state.next_round = round;
  state.server.global = {
      {"q/encoder/conv1.weight", torch::full({2, 3}, static_cast<float>(round))},
      {"q/encoder/bn1.num_batches_tracked", torch::full({}, round, torch::kInt64)}};
  state.server.pool.Replace(12, torch::full({3, 2}, static_cast<float>(round)), round - 1);
  state.server.recent = {{0.1 * round, 1.0 / 3}, {1e-300, 7}};
  state.server.optimizer = {{"m/q/encoder/conv1.weight", torch::full({2, 3}, 0.5f)},
                            {"v/q/encoder/conv1.weight", torch::full({2, 3}, 0.1f)}};
  state.metrics_offset = 100 * static_cast<uint64_t>(round) + (1ull << 40);
  state.progress = "{\"first_knn\": 0.5, \"näme\": \"\\n\"}";
  return state;
}

NamedTensors CheckpointClient(int client, int round) {
  return {
      {"bank", torch::full({4}, static_cast<float>(client) + 0.01f * static_cast<float>(round))},
      {"bank_count", torch::full({1}, round, torch::kInt64)}};
}

// Saves `round` with clients 0, 1 and 12.
void SaveRound(const fs::path& folder, int round) {
  const auto scratch = TestFolder();
  LocalStore store(1 << 20, scratch.path());
  for (const int client : {0, 1, 12}) store.Put(client, CheckpointClient(client, round));
  SaveCheckpoint(folder, CheckpointState(round), store);
}

// The round that loads, with all of its state as saved; -1 when nothing was ever committed.
int LoadRound(const fs::path& folder) {
  const auto scratch = TestFolder();
  LocalStore store(1 << 20, scratch.path());
  const auto state = LoadCheckpoint(folder, store);
  if (!state) {
    EXPECT_TRUE(store.Clients().empty());
    return -1;
  }
  const int round = state->next_round;
  const RunState expected = CheckpointState(round);
  EXPECT_EQ(DigestOf(state->server.global), DigestOf(expected.server.global));
  EXPECT_EQ(DigestOf(state->server.pool.ToTensors()), DigestOf(expected.server.pool.ToTensors()));
  EXPECT_EQ(DigestOf(state->server.optimizer), DigestOf(expected.server.optimizer));
  EXPECT_EQ(state->server.recent, expected.server.recent);
  EXPECT_EQ(state->metrics_offset, expected.metrics_offset);
  EXPECT_EQ(state->progress, expected.progress);
  EXPECT_EQ(store.Clients(), (std::vector<int>{0, 1, 12}));
  for (const int client : store.Clients()) {
    const auto local = store.Get(client, [] { return NamedTensors{}; });
    EXPECT_EQ(DigestOf(local), DigestOf(CheckpointClient(client, round))) << client;
  }
  return round;
}

fs::path CheckpointFile(const fs::path& folder, int round) {
  return folder / ("round-" + std::to_string(round) + ".safetensors");
}

// Flips one bit in the middle of the file.
void DamageCheckpoint(const fs::path& path) {
  Bytes bytes = ReadFile(path, 1 << 20);
  bytes[bytes.size() - 5] ^= 1;
  WriteFileAtomically(path, bytes);
}

TEST(Checkpoint, NothingCommittedIsNothing) {
  const auto folder = TestFolder();
  EXPECT_EQ(LoadRound(folder.path()), -1);
  // A file of a generation whose record was never written does not count.
  WriteFileAtomically(CheckpointFile(folder.path(), 1), "half a run");
  EXPECT_EQ(LoadRound(folder.path()), -1);
}

TEST(Checkpoint, RoundTripKeepsModelClientsAndProgress) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  EXPECT_EQ(LoadRound(folder.path()), 1);
}

// Files of before there was a bound on updates do not say what a usual one is.
TEST(Checkpoint, AnOldOneWithoutTheUsualDeltaLoads) {
  const auto folder = TestFolder();
  const auto content = SerializeSafetensors({.tensors = {{"global/a", torch::ones({2})}},
                                             .metadata = {{"next_round", "3"},
                                                          {"metrics_offset", "5"},
                                                          {"progress", "{}"},
                                                          {"identity", "x"},
                                                          {"clients", "[]"}}});
  WriteFileAtomically(CheckpointFile(folder.path(), 3), content);
  WriteFileAtomically(
      folder.path() / "commit.json",
      "[{\"file\": \"round-3.safetensors\", \"digest\": \"" + Digest().Add(content).Hex() + "\"}]");
  const auto state = LoadServerState(folder.path());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->next_round, 3);
  EXPECT_TRUE(state->server.recent.empty());
}

TEST(Checkpoint, RoundTripWithoutClients) {
  const auto folder = TestFolder();
  LocalStore store(0, folder.path() / "scratch"), back(0, folder.path() / "scratch");
  const auto checkpoints = folder.path() / "checkpoints";
  fs::create_directory(checkpoints);
  SaveCheckpoint(checkpoints, CheckpointState(0), store);
  ASSERT_TRUE(LoadCheckpoint(checkpoints, back));
  EXPECT_TRUE(back.Clients().empty());
}

TEST(Checkpoint, ClientsThatAreInFilesAreSavedToo) {
  const auto folder = TestFolder();
  const auto checkpoints = folder.path() / "checkpoints";
  fs::create_directory(checkpoints);
  LocalStore store(0, folder.path() / "scratch");  // all of them
  for (const int client : {0, 1, 12}) store.Put(client, CheckpointClient(client, 5));
  SaveCheckpoint(checkpoints, CheckpointState(5), store);
  EXPECT_EQ(LoadRound(checkpoints), 5);
}

TEST(Checkpoint, TheTwoNewestStayAndNoMore) {
  const auto folder = TestFolder();
  for (int round = 1; round <= 11; ++round) {
    SaveRound(folder.path(), round);
    EXPECT_EQ(LoadRound(folder.path()), round);
    std::set<std::string> expected = {"commit.json",
                                      "round-" + std::to_string(round) + ".safetensors"};
    if (round > 1) expected.insert("round-" + std::to_string(round - 1) + ".safetensors");
    EXPECT_EQ(FilesBelow(folder.path()), expected);
  }
}

TEST(Checkpoint, SavingARoundAgainKeepsTheOneBefore) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  SaveRound(folder.path(), 2);
  SaveRound(folder.path(), 2);
  DamageCheckpoint(CheckpointFile(folder.path(), 2));
  EXPECT_EQ(LoadRound(folder.path()), 1);
}

TEST(Checkpoint, ADamagedNewestGivesItsElder) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  SaveRound(folder.path(), 2);
  DamageCheckpoint(CheckpointFile(folder.path(), 2));
  EXPECT_EQ(LoadRound(folder.path()), 1);
  // The run goes on from there, and its next checkpoint counts.
  SaveRound(folder.path(), 2);
  EXPECT_EQ(LoadRound(folder.path()), 2);
}

TEST(Checkpoint, ACutOrMissingNewestGivesItsElder) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  SaveRound(folder.path(), 2);
  const auto newest = CheckpointFile(folder.path(), 2);
  for (const uintmax_t size : {fs::file_size(newest) - 1, uintmax_t{100}, uintmax_t{0}}) {
    fs::resize_file(newest, size);
    EXPECT_EQ(LoadRound(folder.path()), 1) << size;
  }
  fs::remove(newest);
  EXPECT_EQ(LoadRound(folder.path()), 1);
}

TEST(Checkpoint, AllDamagedIsAnErrorNotAFreshStart) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  SaveRound(folder.path(), 2);
  DamageCheckpoint(CheckpointFile(folder.path(), 1));
  DamageCheckpoint(CheckpointFile(folder.path(), 2));
  ExpectError(ExitCode::kData, "every checkpoint is damaged", [&] { LoadRound(folder.path()); });
}

TEST(Checkpoint, ADamagedRecordIsAnError) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  for (const char* record :
       {"", "[", "[]", "{}", "null", "[1]", "[{}]", "[{\"file\": \"round-1.safetensors\"}]",
        "[{\"file\": 1, \"digest\": \"x\"}]", "[{\"file\": \"x\", \"digest\": null}]", "\xff"}) {
    SCOPED_TRACE(record);
    WriteFileAtomically(folder.path() / "commit.json", record);
    ExpectError(ExitCode::kData, "commit.json", [&] { LoadRound(folder.path()); });
  }
}

TEST(Checkpoint, ARecordThatNamesWhatIsNoGenerationIsAnError) {
  const auto folder = TestFolder();
  for (const char* file : {"../x", "..", ".", "/", "", "commit.json", "/etc/passwd"}) {
    SCOPED_TRACE(file);
    WriteFileAtomically(folder.path() / "commit.json",
                        std::string("[{\"file\": \"") + file + "\", \"digest\": \"0\"}]");
    ExpectError(ExitCode::kData, "every checkpoint is damaged", [&] { LoadRound(folder.path()); });
  }
}

TEST(Checkpoint, LeftoversOfAKillAreIgnoredAndCleaned) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  // Killed while writing the next generation, and after it but before its record.
  WriteFileAtomically(folder.path() / ".tmp-0123456789abcdef", "half");
  WriteFileAtomically(CheckpointFile(folder.path(), 2), "whole, but not in the record");
  EXPECT_EQ(LoadRound(folder.path()), 1);
  SaveRound(folder.path(), 3);
  EXPECT_EQ(FilesBelow(folder.path()),
            (std::set<std::string>{"commit.json", "round-1.safetensors", "round-3.safetensors"}));
  EXPECT_EQ(LoadRound(folder.path()), 3);
}

TEST(Checkpoint, AFolderThatIsNoneIsADataError) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / "checkpoints", "a file");
  ExpectError(ExitCode::kData, "checkpoints", [&] { SaveRound(folder.path() / "checkpoints", 1); });
  ExpectError(ExitCode::kData, "missing", [&] { SaveRound(folder.path() / "missing", 1); });
}

TEST(Checkpoint, AFailedSaveLeavesTheGenerationsBefore) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  SaveRound(folder.path(), 2);
  fs::create_directory(CheckpointFile(folder.path(), 3));  // in the way of the new file
  ExpectError(ExitCode::kData, "round-3.safetensors", [&] { SaveRound(folder.path(), 3); });
  EXPECT_EQ(LoadRound(folder.path()), 2);
  DamageCheckpoint(CheckpointFile(folder.path(), 2));
  EXPECT_EQ(LoadRound(folder.path()), 1);
}

// The kernel refuses to let any file grow beyond `bytes`, as a full disk would.
class DiskLimit {
 public:
  explicit DiskLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~DiskLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  DiskLimit(const DiskLimit&) = delete;
  DiskLimit& operator=(const DiskLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Checkpoint, AFullDiskLeavesTheGenerationsBefore) {
  const auto folder = TestFolder();
  SaveRound(folder.path(), 1);
  SaveRound(folder.path(), 2);
  const auto files = FilesBelow(folder.path());
  // Not a byte; then a part of the file.
  for (const rlim_t limit : {rlim_t{0}, rlim_t{200}}) {
    ExpectError(ExitCode::kData, "cannot write the file", [&] {
      const DiskLimit full(limit);
      SaveRound(folder.path(), 3);
    });
    EXPECT_EQ(FilesBelow(folder.path()), files) << limit;
    EXPECT_EQ(LoadRound(folder.path()), 2) << limit;
  }
}

// What a user or a file system puts there (lost+found) is no reason to stop a run.
TEST(Checkpoint, AFolderAmongTheCheckpointsDoesNotStopASave) {
  const auto folder = TestFolder();
  fs::create_directory(folder.path() / "lost+found");
  WriteFileAtomically(folder.path() / "lost+found" / "x", "something");
  EXPECT_NO_THROW(SaveRound(folder.path(), 1));
  EXPECT_EQ(LoadRound(folder.path()), 1);
}

TEST(LoadServerState, GivesTheRoundAskedForAndSaysWhatIsDamaged) {
  const auto folder = TestFolder();
  EXPECT_FALSE(LoadServerState(folder.path()).has_value());
  SaveRound(folder.path(), 1);
  SaveRound(folder.path(), 2);
  EXPECT_EQ(LoadServerState(folder.path())->next_round, 2);
  EXPECT_EQ(LoadServerState(folder.path(), 1)->next_round, 1);
  EXPECT_FALSE(LoadServerState(folder.path(), 3).has_value());
  WriteFileAtomically(folder.path() / "round-2.safetensors", std::string_view("x"));
  EXPECT_EQ(LoadServerState(folder.path())->next_round, 1) << "the elder";
  ExpectError(ExitCode::kData, "the checkpoint of round 2 is damaged",
              [&] { LoadServerState(folder.path(), 2); });
  WriteFileAtomically(folder.path() / "round-1.safetensors", std::string_view("x"));
  ExpectError(ExitCode::kData, "every checkpoint is damaged",
              [&] { LoadServerState(folder.path()); });
}

}  // namespace
}  // namespace kindred
