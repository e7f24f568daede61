#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace kindred {
namespace {

constexpr int kBarWidth = 30;

}  // namespace

Progress::Progress(std::string what, uint64_t total, std::string unit)
    : what_(std::move(what)),
      total_(total),
      unit_(std::move(unit)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      next_(start_ + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) {}

Progress::~Progress() {
  if (!terminal_ || !drawn_) return;
  Draw(last_);
  fmt::print(stderr, "\n");
}

void Progress::Clear() {
  if (terminal_ && drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

void Progress::At(uint64_t done) {
  last_ = done;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10));
  Draw(done);
}

void Progress::Draw(uint64_t done) {
  const bool bytes = unit_ == "B";
  const auto number = [&](uint64_t n) { return bytes ? HumanBytes(n) : fmt::format("{}", n); };
  const std::string unit = bytes ? "" : " " + unit_;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string text = total_ > 0 ? fmt::format("{} / {}{}", number(done), number(total_), unit)
                                : number(done) + unit;
  if (done > 0 && total_ > done) {
    text += fmt::format(", {:.0f} s left",
                        seconds * static_cast<double>(total_ - done) / static_cast<double>(done));
  }
  if (!status_.empty()) text += ", " + status_;
  if (!terminal_) {
    fmt::print(stderr, "kindred: {}: {}\n", what_, text);
    return;
  }
  const double share =
      total_ > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total_)) : 0;
  const int full = static_cast<int>(share * kBarWidth);
  fmt::print(stderr, "\r\x1b[K{} [{:=<{}}{:{}}] {}", what_, "", full, "", kBarWidth - full, text);
  drawn_ = true;
}

std::string HumanBytes(uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  while (size >= 1000 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string HumanDuration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{:.1f} s", seconds);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace kindred
