// What `kindred train` shows while it trains: a bar of one row on a terminal, one line per round
// elsewhere.
#include "tests/terminal.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <sstream>

#include "tests/folders.h"
#include "tests/program.h"

namespace kindred {
namespace {

// Some seconds: several bars a round.
const std::string kFourRounds = "train --config '" KINDRED_SOURCE_DIR
                                "/configs/tiny.toml' --set train.rounds=4 --set train.epochs=3"
                                " --set eval.every=2 --set eval.limit=50 --out run";

// Runs the program with stdout and stderr on the terminal; `on_bytes` gets what it writes. The exit
// code, -1 for a signal.
template <class OnBytes>
int RunOn(PseudoTerminal& terminal, const TemporaryFolder& folder, const std::string& arguments,
          const OnBytes& on_bytes) {
  const std::string command = fmt::format("cd '{0}' && XDG_CACHE_HOME='{0}/.cache' exec {1} {2}",
                                          folder.path().string(), KINDRED_PROGRAM, arguments);
  std::string shell = "/bin/sh", flag = "-c", text = command;
  char* words[] = {shell.data(), flag.data(), text.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, terminal.slave(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, terminal.slave(), STDERR_FILENO);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, shell.c_str(), &actions, nullptr, words, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  terminal.CloseSlave();
  for (std::string bytes = terminal.Read(); !bytes.empty(); bytes = terminal.Read()) {
    on_bytes(bytes);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Terminal, TrainingIsOneBarThatNeverWraps) {
  for (const int columns : {60, 80, 200}) {
    const auto folder = TestFolder();
    PseudoTerminal terminal(columns);
    Screen screen(static_cast<size_t>(columns));
    std::string all;
    int bars = 0;
    const auto look = [&] {
      EXPECT_LE(screen.Count("training "), 1) << columns;
      EXPECT_EQ(screen.Wrapped("training "), 0) << columns;
      bars += screen.Count("training ");
    };
    const int code = RunOn(terminal, folder, kFourRounds, [&](const std::string& bytes) {
      all += bytes;
      for (const char byte : bytes) {
        if (byte == '\r') look();  // before the bar is drawn again
        screen.Feed(std::string(1, byte));
      }
    });
    EXPECT_EQ(code, 0) << all;
    EXPECT_GT(bars, 0) << all;
    EXPECT_EQ(screen.Count("training "), 0) << "the last bar is gone";
    EXPECT_TRUE(all.find("round 2/4, loss ") != std::string::npos) << all;
    for (int round = 1; round <= 4; ++round) {
      EXPECT_EQ(screen.Count(fmt::format("kindred: round {}/4: loss ", round)), 1) << all;
    }
  }
}

TEST(Terminal, WithoutOneEachRoundIsOneLine) {
  const auto folder = TestFolder();
  const Ran ran = Kindred(folder, kFourRounds);
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::istringstream lines(ran.err);
  std::vector<std::string> rounds;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("kindred: round ") == 0) rounds.push_back(line);
    EXPECT_EQ(line.find("kindred: training"), std::string::npos) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
  }
  ASSERT_EQ(rounds.size(), 5u) << ran.err;
  EXPECT_EQ(rounds[0].find("kindred: round 0: kNN "), 0u) << "before any training";
  for (size_t round = 1; round <= 4; ++round) {
    const std::string& line = rounds[round];
    EXPECT_EQ(line.find(fmt::format("kindred: round {}/4: loss ", round)), 0u) << line;
    EXPECT_EQ(line.find(", kNN ") != std::string::npos, round % 2 == 0) << line;
    EXPECT_NE(line.find(" images/s"), std::string::npos) << line;
    EXPECT_EQ(line.find(" left") != std::string::npos, round < 4) << line;
  }
}

}  // namespace
}  // namespace kindred
