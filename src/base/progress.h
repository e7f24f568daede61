// Progress of something long: a bar on a terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace kindred {

// Reports to stderr. `total` of 0 means unknown. Not to be shared between threads.
class Progress {
 public:
  Progress(std::string what, uint64_t total, std::string unit);
  ~Progress();  // ends the bar's line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the total so far. Cheap: draws at most a few times a second (plain: every ten
  // seconds).
  void At(uint64_t done);

  // Text shown with the bar from now on, such as the round and the loss.
  void Say(std::string status) { status_ = std::move(status); }

  // Takes the bar off its line, so that others may print; the next At draws it again.
  void Clear();

 private:
  void Draw(uint64_t done);

  std::string what_;
  uint64_t total_;
  std::string unit_;
  std::string status_;
  bool terminal_;
  bool drawn_ = false;
  uint64_t last_ = 0;
  std::chrono::steady_clock::time_point start_, next_;
};

// 1234567 as "1.2 MB": sizes for people.
std::string HumanBytes(uint64_t bytes);

// 3725 as "62 min 5 s": times for people.
std::string HumanDuration(double seconds);

}  // namespace kindred
