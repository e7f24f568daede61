// Progress of something long: a bar on a terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kindred {

// What a bar's line is made of.
struct ProgressParts {
  std::string what;
  std::optional<double> share = {};    // done, 0 to 1; not known: no bar
  std::vector<std::string> kept = {};  // the most important first
  std::vector<std::string> spare = {};
};

// One line for a terminal of so many columns, never wider than columns - 1, so that it does not
// wrap. Where room is short the bar shrinks first, then spare parts go, the last one first, then
// the bar, then `what` is cut and goes, and only then kept parts, the last one first.
std::string ProgressLine(ProgressParts parts, int columns);

// How often a line is written: a bar drawn again, and a plain line where there is no terminal.
struct ProgressPace {
  std::chrono::milliseconds bar = std::chrono::milliseconds(200);
  std::chrono::milliseconds plain = std::chrono::seconds(10);
};

// Reports to stderr. `total` of 0 means unknown. Not to be shared between threads.
//
// A bar fits the terminal's width, which is read at each draw: when the size changes, the next draw
// follows. A window made narrower wraps the line that is already there; it is cleared as terminals
// wrap it. Those that cut it off instead (xterm) lose the line above the bar.
class Progress {
 public:
  Progress(std::string what, uint64_t total, std::string unit, ProgressPace pace = {});
  ~Progress();  // ends the bar's line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the total so far. Cheap: writes at the pace that was given.
  void At(uint64_t done);

  // Shown from now on, such as the round and the loss, the most important first; and what is shown
  // where there is room, such as a speed.
  void Say(std::vector<std::string> status, std::string aside = "");

  // Takes the bar off its line, so that others may print; the next At draws it again. Without a
  // terminal the wait for the next plain line begins anew: who prints a line per round gets others
  // only in rounds longer than the pace.
  void Clear();

 private:
  void Draw(uint64_t done);
  std::string Erase(int columns) const;

  std::string what_;
  uint64_t total_;
  std::string unit_;
  std::vector<std::string> status_;
  std::string aside_;
  bool terminal_;
  std::chrono::milliseconds pace_;
  size_t drawn_ = 0;  // columns of the bar's line; 0: none is there
  uint64_t last_ = 0;
  std::chrono::steady_clock::time_point start_, next_;
};

// 1234567 as "1.2 MB": sizes for people.
std::string HumanBytes(uint64_t bytes);

// 3725 as "62 min 5 s": times for people.
std::string HumanDuration(double seconds);

// 3725 as "62 min left": an estimate, so without the seconds.
std::string HumanTimeLeft(double seconds);

}  // namespace kindred
