#include "report/tail.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/folders.h"

namespace kindred {
namespace {

TEST(Tail, GivesWholeLinesOnce) {
  const TemporaryFolder folder = TestFolder();
  const auto path = folder.path() / "lines";
  Tail tail(path, 0);
  using Lines = std::vector<std::string>;
  EXPECT_EQ(tail.Next(), Lines{});  // no file yet
  std::ofstream out(path);
  out << "one\ntwo\nthr" << std::flush;
  EXPECT_EQ(tail.Next(), (Lines{"one", "two"}));
  EXPECT_EQ(tail.Next(), Lines{});
  out << "ee\n" << std::flush;
  EXPECT_EQ(tail.Next(), Lines{"three"});
  EXPECT_EQ(Tail(path, 4).Next(), (Lines{"two", "three"}));  // from where another ended
  std::ofstream(path) << "a\n";                              // cut: a run that goes on
  EXPECT_EQ(tail.Next(), Lines{"a"});
}

TEST(Tail, GoesOnFromAFullLogToTheNext) {
  const TemporaryFolder folder = TestFolder();
  const auto path = folder.path() / "lines", full = folder.path() / "lines.1";
  std::ofstream(path) << "one\ntwo\n";
  Tail tail(path, 0);
  using Lines = std::vector<std::string>;
  EXPECT_EQ(tail.Next(), (Lines{"one", "two"}));
  std::ofstream(path, std::ios::app) << "three\n";
  std::filesystem::rename(path, full);
  std::ofstream(path) << "four\n";
  EXPECT_EQ(tail.Next(), Lines{"three"});
  EXPECT_EQ(tail.Next(), Lines{"four"});
  EXPECT_EQ(tail.Next(), Lines{});
  EXPECT_EQ(tail.offset(), 5u);
}

TEST(Tail, TakesAFileInParts) {
  const TemporaryFolder folder = TestFolder();
  const auto path = folder.path() / "lines";
  std::ofstream out(path);
  for (int i = 0; i < 300'000; ++i) out << "line " << i << "\n";
  out.close();
  Tail tail(path, 0);
  size_t count = 0, calls = 0;
  for (auto lines = tail.Next(); !lines.empty(); lines = tail.Next(), ++calls) {
    EXPECT_EQ(lines[0], "line " + std::to_string(count));
    count += lines.size();
  }
  EXPECT_EQ(count, 300'000);
  EXPECT_GT(calls, 2);
}

}  // namespace
}  // namespace kindred
