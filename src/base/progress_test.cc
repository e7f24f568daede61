#include "base/progress.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/display_width.h"
#include "tests/terminal.h"

namespace kindred {
namespace {

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The line of a large run.
ProgressParts TrainingParts() {
  return {.what = "training",
          .share = 0.31,
          .kept = {"round 131/1000", "loss 7.123", "kNN 45.20 %"},
          .spare = {"12 h 59 min left", "1261 images/s", "15500000 / 50000000 images"}};
}

TEST(HumanBytes, TakesTheLargestUnitBelowTheNumber) {
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(1000), "1.0 kB");
  EXPECT_EQ(HumanBytes(170'498'071), "170.5 MB");
}

TEST(HumanTimeLeft, IsAsRoughAsAnEstimate) {
  EXPECT_EQ(HumanTimeLeft(0), "0 s left");
  EXPECT_EQ(HumanTimeLeft(119.4), "119 s left");
  EXPECT_EQ(HumanTimeLeft(3725), "62 min left");
  EXPECT_EQ(HumanTimeLeft(7500), "2 h 5 min left");
  EXPECT_EQ(HumanTimeLeft(1e300), "277777 h 46 min left");
}

TEST(ProgressLine, IsNeverWiderThanTheTerminal) {
  const std::vector<ProgressParts> all = {
      TrainingParts(),
      {.what = "downloading \u732b\u732b\u732b-Gr\u00f6\u00dfe-\U0001f408.tar.gz",
       .kept = {"170.5 MB"}},
      {.what = "reading images", .share = 0, .kept = {"0 / 10 images"}, .spare = {"95 s left"}},
      {.what = "embed", .share = 7, .kept = {"more than all"}},
      {.what = "\u732b\u732b\u732b\u732b\u732b", .share = 1, .kept = {"\u732b", "\u732b"}},
      {.what = "alone", .share = 0.5},
      {.what = ""}};
  for (const auto& parts : all) {
    for (int columns = -1; columns <= 300; ++columns) {
      const std::string line = ProgressLine(parts, columns);
      EXPECT_LE(static_cast<int>(DisplayWidth(line)), std::max(columns - 1, 0)) << line;
    }
  }
}

TEST(ProgressLine, KeepsRoundLossAndKnnAsLongAsTheyFit) {
  const int wide = static_cast<int>(DisplayWidth("round 131/1000, loss 7.123, kNN 45.20 %"));
  for (int columns = wide + 1; columns <= 300; ++columns) {
    const std::string line = ProgressLine(TrainingParts(), columns);
    EXPECT_TRUE(Holds(line, "round 131/1000, loss 7.123, kNN 45.20 %")) << columns << ": " << line;
  }
  EXPECT_EQ(ProgressLine(TrainingParts(), wide), "training round 131/1000, loss 7.123");
  EXPECT_EQ(ProgressLine(TrainingParts(), 10), "round 131");
}

// More room never shows less.
TEST(ProgressLine, SparePartsComeInTheirOrder) {
  int most = 0;
  for (int columns = 1; columns <= 300; ++columns) {
    const std::string line = ProgressLine(TrainingParts(), columns);
    int shown = 0;
    for (const auto& part : TrainingParts().spare) {
      if (!Holds(line, part)) break;
      ++shown;
    }
    EXPECT_GE(shown, most) << columns << ": " << line;
    most = std::max(most, shown);
  }
  EXPECT_EQ(most, 3);
}

TEST(ProgressLine, AtUsualWidths) {
  EXPECT_EQ(ProgressLine(TrainingParts(), 60), "training round 131/1000, loss 7.123, kNN 45.20 %");
  EXPECT_EQ(ProgressLine(TrainingParts(), 80),
            "training [===       ] round 131/1000, loss 7.123, kNN 45.20 %, 12 h 59 min left");
  EXPECT_EQ(ProgressLine(TrainingParts(), 200),
            "training [=========                     ] round 131/1000, loss 7.123, kNN 45.20 %, "
            "12 h 59 min left, 1261 images/s, 15500000 / 50000000 images");
}

TEST(ProgressLine, CutsALongNameBeforeItsNumber) {
  const ProgressParts parts = {.what = "downloading train-images-idx3-ubyte.gz",
                               .kept = {"26.4 MB"}};
  EXPECT_EQ(ProgressLine(parts, 80), "downloading train-images-idx3-ubyte.gz 26.4 MB");
  EXPECT_EQ(ProgressLine(parts, 31), "downloading train-imag 26.4 MB");
  EXPECT_EQ(ProgressLine(parts, 12), "26.4 MB");
}

TEST(Progress, IsQuietWhenTheWorkIsShort) {
  testing::internal::CaptureStderr();
  {
    Progress progress("reading", 10, "images");
    for (uint64_t i = 0; i < 10; ++i) progress.At(i);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, WritesPlainLinesWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress("training", 10, "images", {.plain = std::chrono::seconds(0)});
    progress.At(0);
    progress.Say({"round 1/2", "loss 3.000"}, "7 images/s");
    progress.At(10);
    progress.Clear();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "kindred: training: 0 / 10 images\n"
            "kindred: training: round 1/2, loss 3.000, 7 images/s, 10 / 10 images\n");
}

// A Progress whose stderr is a pseudo-terminal, and what that shows.
class ProgressOnTerminal {
 public:
  explicit ProgressOnTerminal(int columns)
      : terminal_(columns), screen_(static_cast<size_t>(columns)), stderr_(::dup(STDERR_FILENO)) {
    ::dup2(terminal_.slave(), STDERR_FILENO);
  }
  ~ProgressOnTerminal() {
    ::dup2(stderr_, STDERR_FILENO);
    ::close(stderr_);
  }

  const Screen& Shown() {
    screen_.Feed(terminal_.Written());
    return screen_;
  }

  // 0: the terminal does not know; it shows 80.
  void Resize(int columns) {
    Shown();  // what was written before, at the width before
    terminal_.Resize(columns);
    screen_.Resize(columns > 0 ? static_cast<size_t>(columns) : 80);
  }

 private:
  PseudoTerminal terminal_;
  Screen screen_;
  int stderr_;
};

// A bar at each call.
constexpr ProgressPace kAtOnce = {.bar = std::chrono::milliseconds(0)};

void SayRound(Progress& progress, int round) {
  progress.Clear();
  fmt::print(stderr, "kindred: round {}\n", round);
  progress.Say({fmt::format("round {}/1000", round), "loss 7.123", "kNN 45.20 %"}, "1261 images/s");
}

TEST(Progress, TakesOneRowOfATerminalOfAnyWidth) {
  for (const int columns : {1, 2, 5, 19, 40, 60, 80, 110, 200}) {
    ProgressOnTerminal terminal(columns);
    {
      Progress progress("training", 50'000'000, "images", kAtOnce);
      for (uint64_t i = 0; i <= 20; ++i) {
        if (i % 5 == 1) SayRound(progress, static_cast<int>(100 + i));
        progress.At(i * 2'500'000);
        const Screen& shown = terminal.Shown();
        EXPECT_LE(shown.Count("training"), 1) << columns;
        EXPECT_LE(shown.Count("loss"), 1) << columns;
        EXPECT_EQ(shown.Wrapped("loss") + shown.Wrapped("training"), 0) << columns;
        if (columns >= 60 && i > 0) {
          EXPECT_EQ(shown.Count("training"), 1);
          EXPECT_EQ(shown.Count("loss 7.123, kNN 45.20 %"), 1) << columns;
        }
      }
    }
    const auto rows = terminal.Shown().Rows();
    if (columns < 60) continue;
    // Four rounds, the last bar, and the empty line behind it.
    ASSERT_EQ(rows.size(), 6u) << columns;
    EXPECT_EQ(rows[3], "kindred: round 116");
    EXPECT_TRUE(Holds(rows[4], "round 116/1000")) << rows[4];
  }
}

TEST(Progress, TakesOneRowForWideNames) {
  ProgressOnTerminal terminal(24);
  Progress progress("\u732b\u732b\u732b\u732b\u732b\u732b\u732b\u732b\u732b\u732b", 0, "B",
                    kAtOnce);
  for (uint64_t i = 0; i < 5; ++i) progress.At(i << 20);
  const auto rows = terminal.Shown().Rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(Holds(rows[0], "\u732b 4.2 MB")) << rows[0];
}

// Widths of a window that is dragged about: the bar is one row, and what is above it stays.
TEST(Progress, FollowsTheTerminalsSize) {
  ProgressOnTerminal terminal(200);
  Progress progress("training", 50'000'000, "images", kAtOnce);
  SayRound(progress, 100);
  uint64_t done = 0;
  for (const int columns : {200, 110, 109, 80, 60, 200, 31, 30, 60, 80, 200, 20, 200}) {
    terminal.Resize(columns);
    progress.At(done += 1'000'000);
    const auto rows = terminal.Shown().Rows();
    ASSERT_EQ(rows.size(), 2u) << columns;
    EXPECT_EQ(rows[0], "kindred: round 100");
    EXPECT_LT(rows[1].size(), static_cast<size_t>(columns));
    EXPECT_TRUE(Holds(rows[1], "round 100/1000")) << rows[1];
    EXPECT_EQ(Holds(rows[1], "images/s"), columns > 80) << rows[1];
  }
  terminal.Resize(30);
  progress.Clear();
  EXPECT_EQ(terminal.Shown().Rows(), (std::vector<std::string>{"kindred: round 100", ""}));
}

// As terminals over a serial line are.
TEST(Progress, TakesATerminalOfNoSizeForOneOf80Columns) {
  ProgressOnTerminal terminal(200);
  terminal.Resize(0);
  Progress progress("training", 50'000'000, "images", kAtOnce);
  SayRound(progress, 100);
  for (uint64_t i = 1; i < 5; ++i) progress.At(i * 1'000'000);
  const auto rows = terminal.Shown().Rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(Holds(rows[1], "loss 7.123, kNN 45.20 %")) << rows[1];
  EXPECT_LT(rows[1].size(), 80u);
}

}  // namespace
}  // namespace kindred
