#include "record/event_file.h"

#include <gtest/gtest.h>

#include "record/metrics.h"
#include "tests/folders.h"

namespace kindred {
namespace {

Bytes BytesIn(const std::filesystem::path& folder) {
  return ReadFile(folder / "events.out.tfevents.kindred", 1 << 20);
}

TEST(EventFile, AppendsWhatTheMetricsHaveGot) {
  const auto folder = TestFolder();
  const auto metrics = folder.path() / "metrics.jsonl";
  EventFile events(folder.path() / "tensorboard", metrics);
  events.CatchUp();  // before the first line
  EXPECT_EQ(BytesIn(folder.path() / "tensorboard"), SerializeEvents({}));
  MetricsFile file(metrics, 0);
  for (const double loss : {2.0, 1.5, 1.0}) {
    file.Append({{"round", 1}, {"loss", loss}});
    events.CatchUp();
    events.CatchUp();  // nothing new
    EXPECT_EQ(BytesIn(folder.path() / "tensorboard"),
              SerializeEvents(ToEvents(ReadMetrics(metrics))));
  }
  EXPECT_EQ(FilesBelow(folder.path() / "tensorboard").size(), 1u);
}

TEST(EventFile, ComesBackWholeWhenItsFolderIsRemoved) {
  const auto folder = TestFolder();
  const auto metrics = folder.path() / "metrics.jsonl";
  EventFile events(folder.path() / "tensorboard", metrics);
  MetricsFile file(metrics, 0);
  file.Append({{"round", 1}, {"loss", 2.0}});
  events.CatchUp();
  std::filesystem::remove_all(folder.path() / "tensorboard");
  file.Append({{"round", 2}, {"loss", 1.0}});
  events.CatchUp();
  EXPECT_EQ(BytesIn(folder.path() / "tensorboard"),
            SerializeEvents(ToEvents(ReadMetrics(metrics))));
}

TEST(EventFile, OfARunThatGoesOnHoldsNoMoreThanItsMetrics) {
  const auto folder = TestFolder();
  const auto metrics = folder.path() / "metrics.jsonl";
  MetricsFile file(metrics, 0);
  file.Append({{"round", 1}, {"loss", 2.0}});
  const uint64_t kept = file.offset();
  file.Append({{"round", 2}, {"loss", 1.0}});
  EventFile(folder.path() / "tensorboard", metrics).CatchUp();
  MetricsFile back(metrics, kept);  // to its checkpoint
  EventFile(folder.path() / "tensorboard", metrics).CatchUp();
  EXPECT_EQ(BytesIn(folder.path() / "tensorboard"),
            SerializeEvents(ToEvents(ReadMetrics(metrics))));
}

TEST(EventFile, AHalfWrittenLineWaitsForItsEnd) {
  const auto folder = TestFolder();
  const auto metrics = folder.path() / "metrics.jsonl";
  const std::string line = "{\"round\":1,\"loss\":2.0}";
  WriteFileAtomically(metrics, std::string_view(line));
  EventFile events(folder.path() / "tensorboard", metrics);
  events.CatchUp();
  EXPECT_EQ(BytesIn(folder.path() / "tensorboard"), SerializeEvents({}));
  WriteFileAtomically(metrics, std::string_view(line + "\n"));
  events.CatchUp();
  EXPECT_EQ(BytesIn(folder.path() / "tensorboard"),
            SerializeEvents(ToEvents(ReadMetrics(metrics))));
}

}  // namespace
}  // namespace kindred
