#include "record/metrics.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

std::string MetricsText(const std::filesystem::path& path) {
  const Bytes bytes = ReadFile(path, 1 << 20);
  return {bytes.begin(), bytes.end()};
}

TEST(Metrics, LinesComeBackInOrder) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "metrics.jsonl";
  MetricsFile file(path, 0);
  EXPECT_EQ(file.offset(), 0u);
  EXPECT_TRUE(ReadMetrics(path).empty());
  file.Append({{"round", 1}, {"loss", 0.5}, {"a", "two\nlines"}});
  EXPECT_EQ(file.offset(), std::filesystem::file_size(path));
  file.Append({{"round", 2}, {"loss", 0.25}});
  EXPECT_EQ(file.offset(), std::filesystem::file_size(path));
  const auto lines = ReadMetrics(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["round"], 1);
  EXPECT_EQ(lines[0]["a"], "two\nlines");
  EXPECT_EQ(lines[1]["loss"], 0.25);
  EXPECT_GT(lines[0]["time"].get<double>(), 1.7e9);  // seconds, since 1970
  EXPECT_LT(lines[0]["time"].get<double>(), 1e11);
  EXPECT_EQ(lines[0].begin().key(), "round") << "fields keep their order";
}

TEST(Metrics, AMissingFileHasNoLines) {
  const auto folder = TestFolder();
  EXPECT_TRUE(ReadMetrics(folder.path() / "none").empty());
}

TEST(Metrics, ReopeningCutsWhatIsDoneAgain) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "metrics.jsonl";
  uint64_t offset = 0;
  {
    MetricsFile file(path, 0);
    file.Append({{"round", 1}});
    offset = file.offset();
    file.Append({{"round", 2}});
    file.Append({{"round", 3}});
  }
  const std::string first = MetricsText(path).substr(0, offset);
  MetricsFile file(path, offset);
  EXPECT_EQ(file.offset(), offset);
  EXPECT_EQ(MetricsText(path), first);
  file.Append({{"round", 7}});
  const auto lines = ReadMetrics(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["round"], 1);
  EXPECT_EQ(lines[1]["round"], 7);
  EXPECT_TRUE(MetricsText(path).starts_with(first));
}

TEST(Metrics, ANewRunCutsEverything) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "metrics.jsonl";
  WriteFileAtomically(path, "{\"round\":1}\n");
  MetricsFile file(path, 0);
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
}

TEST(Metrics, AFileShorterThanItsCheckpointGoesOnWithWhatIsThere) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "metrics.jsonl";
  WriteFileAtomically(path, "{\"round\":1}\n");  // 12 bytes
  EXPECT_NO_THROW(MetricsFile(path, 12));
  EXPECT_EQ(MetricsFile(path, 13).offset(), 12u);
  EXPECT_EQ(MetricsText(path), "{\"round\":1}\n");
  ExpectError(ExitCode::kData, "none", [&] { MetricsFile(folder.path() / "none" / "m", 0); });
}

TEST(Metrics, ALineCutShortIsLeftOut) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "metrics.jsonl";
  const std::string whole = "{\"round\":1,\"loss\":0.5}\n", next = "{\"round\":2,\"loss\":0.25}";
  for (size_t size = 0; size < next.size(); ++size) {
    WriteFileAtomically(path, whole + next.substr(0, size));
    const auto lines = ReadMetrics(path);
    ASSERT_EQ(lines.size(), 1u) << size;
    EXPECT_EQ(lines[0]["loss"], 0.5);
  }
  WriteFileAtomically(path, "3\n[1]\n\nnull\n\xff\n" + whole);
  EXPECT_EQ(ReadMetrics(path).size(), 1u);
}

// The kernel lets no file grow beyond a few bytes, as a full disk would.
TEST(Metrics, AFullDiskLosesALineNotTheRun) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "metrics.jsonl";
  MetricsFile file(path, 0);
  file.Append({{"round", 1}});
  const uint64_t offset = file.offset();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{offset + 10, before.rlim_max};  // room for a part of a line
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_NO_THROW(file.Append({{"round", 2}}));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(file.offset(), offset);
  EXPECT_EQ(std::filesystem::file_size(path), offset) << "no half line";
  file.Append({{"round", 3}});
  const auto lines = ReadMetrics(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1]["round"], 3);
}

TEST(Metrics, EventsAreTheNumbersOfALineAtItsRound) {
  const std::vector<Json> lines = {
      {{"kind", "round"}, {"round", 3}, {"loss", 0.5}, {"clients", 4}, {"time", 1e9}},
      {{"round", 4}, {"knn", 0.75}, {"list", {1, 2}}, {"none", nullptr}, {"yes", true}},
      {{"text", "only"}}};
  const auto events = ToEvents(lines);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].step, 3);
  EXPECT_EQ(events[0].wall_time, 1e9);
  using Values = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(events[0].values, (Values{{"loss", 0.5}, {"clients", 4}}));
  EXPECT_EQ(events[1].step, 4);
  EXPECT_EQ(events[1].values, (Values{{"knn", 0.75}}));
  EXPECT_EQ(events[2].step, 0);
  EXPECT_TRUE(events[2].values.empty());
}

TEST(Metrics, ADamagedLineIsAnEventWithoutItsPlace) {
  const auto events = ToEvents({{{"round", "x"}, {"time", nullptr}, {"loss", 2}}});
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].step, 0);
  EXPECT_EQ(events[0].wall_time, 0);
  EXPECT_EQ(events[0].values.size(), 1);
}

}  // namespace
}  // namespace kindred
