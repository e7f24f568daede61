#include "record/audit_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/parallel.h"
#include "tests/folders.h"

namespace kindred {
namespace {

std::vector<nlohmann::json> AuditLines(const std::filesystem::path& path) {
  const Bytes bytes = ReadFile(path, 1 << 20);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(AuditLog, WritesWholeLinesFromManyThreadsAndCountsRefusals) {
  const auto folder = TestFolder();
  AuditLog log(folder.path() / "audit.jsonl");
  ParallelFor(4, 40, [&](int, int i) {
    log.Add({.event = i % 2 == 0 ? "refuse" : "accept",
             .client = "c\n\"x",
             .round = i,
             .reason = i % 2 == 0 ? "norm" : "",
             .detail = "a\x01b"});
  });
  const auto lines = AuditLines(folder.path() / "audit.jsonl");
  EXPECT_EQ(lines.size(), 40u);
  for (const auto& line : lines) EXPECT_EQ(line.at("client"), "c\n\"x");
  EXPECT_EQ(log.Refusals(), (std::map<std::string, int64_t>{{"norm", 20}}));
}

TEST(AuditLog, OfAFloodItWritesHowManyWereLeftOut) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "audit.jsonl";
  {
    AuditLog log(path);
    for (int i = 0; i < 5000; ++i) log.Add({.event = "refuse", .reason = "identity"});
    log.Add({.event = "refuse", .reason = "norm"});
    EXPECT_EQ(log.Refusals().at("identity"), 5000);
  }
  const auto lines = AuditLines(path);
  EXPECT_LE(lines.size(), 203u);  // a minute may end in between
  int64_t told = 0, norms = 0;
  for (const auto& line : lines) {
    if (line.at("reason") == "identity") told += line.value("more", int64_t{1});
    norms += line.at("reason") == "norm";
  }
  EXPECT_EQ(told, 5000);
  EXPECT_EQ(norms, 1);
  EXPECT_TRUE(lines.back().contains("more"));
}

// What a crash or a full disk cut short stays as it is; the line after it is whole.
TEST(AuditLog, ATornLineIsEndedBeforeTheNext) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "audit.jsonl";
  const std::string torn = R"({"time":1,"event":"acc)";
  WriteFileAtomically(path, std::string_view("{\"event\":\"join\"}\n" + torn));
  AuditLog log(path);
  log.Add({.event = "accept", .client = "a"});
  log.Add({.event = "miss", .client = "a"});
  const Bytes bytes = ReadFile(path, 1 << 20);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], torn);
  EXPECT_EQ(nlohmann::json::parse(lines[2]).at("event"), "accept");
  EXPECT_EQ(nlohmann::json::parse(lines[3]).at("event"), "miss");
}

TEST(AuditLog, AFullFileIsPutAsideAndTheOldestGoes) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "audit.jsonl";
  const AuditLimits limits = {.bytes = 1000, .kept = 2};
  {
    AuditLog log(path, limits);
    for (int i = 1; i <= 60; ++i) log.Add({.event = "accept", .client = "a", .round = i});
  }
  EXPECT_EQ(FilesBelow(folder.path()),
            (std::set<std::string>{"audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"}));
  const auto files = AuditFiles(path);
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files.back(), path);
  std::vector<int> rounds;  // the newest without a gap, oldest first
  for (const auto& file : files) {
    EXPECT_LE(std::filesystem::file_size(file), limits.bytes);
    for (const auto& line : AuditLines(file)) rounds.push_back(line.at("round"));
  }
  EXPECT_GT(rounds.front(), 1);
  for (size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_EQ(rounds[i], 60 - static_cast<int>(rounds.size()) + 1 + static_cast<int>(i));
  }
}

}  // namespace
}  // namespace kindred
