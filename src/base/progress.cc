#include "base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/display_width.h"
#include "base/error.h"

namespace kindred {
namespace {

constexpr size_t kMostBar = 30, kLeastBar = 10, kLeastWhat = 8;
constexpr size_t kAroundBar = 3;  // brackets and a space

int TerminalColumns() {
  constexpr int kUsual = 80;
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

std::string Joined(const ProgressParts& parts) {
  std::vector<std::string> all = parts.kept;
  all.insert(all.end(), parts.spare.begin(), parts.spare.end());
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

std::string ProgressLine(ProgressParts parts, int columns) {
  const size_t room = columns > 1 ? static_cast<size_t>(columns) - 1 : 0;
  const size_t what = DisplayWidth(parts.what) + 1;
  const auto width = [&] { return DisplayWidth(Joined(parts)); };
  const size_t bar = parts.share ? kLeastBar + kAroundBar : 0;
  while (!parts.spare.empty() && what + bar + width() > room) parts.spare.pop_back();
  while (parts.kept.size() > 1 && width() > room) parts.kept.pop_back();
  const std::string text = CutToWidth(Joined(parts), room);

  std::string line;
  size_t left = room - DisplayWidth(text);
  if (left >= std::min(what, kLeastWhat + 1)) {
    line = CutToWidth(parts.what, left - 1) + " ";
    left -= DisplayWidth(line);
  }
  if (parts.share && left >= bar) {
    const size_t cells = std::min(kMostBar, left - kAroundBar);
    const auto full =
        static_cast<size_t>(std::clamp(*parts.share, 0.0, 1.0) * static_cast<double>(cells));
    line += fmt::format("[{:=<{}}{:{}}] ", "", full, "", cells - full);
  }
  return line + text;
}

Progress::Progress(std::string what, uint64_t total, std::string unit, ProgressPace pace)
    : what_(Printable(what)),
      total_(total),
      unit_(std::move(unit)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      pace_(terminal_ ? pace.bar : pace.plain),
      start_(std::chrono::steady_clock::now()),
      next_(start_ + pace_) {}

Progress::~Progress() {
  if (drawn_ == 0) return;
  Draw(last_);
  fmt::print(stderr, "\n");
}

void Progress::Say(std::vector<std::string> status, std::string aside) {
  status_ = std::move(status);
  aside_ = std::move(aside);
}

void Progress::Clear() {
  if (drawn_ > 0) fmt::print(stderr, "{}", Erase(TerminalColumns()));
  drawn_ = 0;
  if (!terminal_) next_ = std::chrono::steady_clock::now() + pace_;
}

void Progress::At(uint64_t done) {
  last_ = done;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + pace_;
  Draw(done);
}

void Progress::Draw(uint64_t done) {
  const bool bytes = unit_ == "B";
  const auto number = [&](uint64_t n) { return bytes ? HumanBytes(n) : fmt::format("{}", n); };
  const std::string unit = bytes ? "" : " " + unit_;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string count = total_ > 0
                                ? fmt::format("{} / {}{}", number(done), number(total_), unit)
                                : number(done) + unit;
  ProgressParts parts = {.what = what_, .kept = status_};
  if (status_.empty()) parts.kept.push_back(count);
  if (done > 0 && total_ > done) {
    parts.spare.push_back(
        HumanTimeLeft(seconds * static_cast<double>(total_ - done) / static_cast<double>(done)));
  }
  if (!aside_.empty()) parts.spare.push_back(aside_);
  if (!status_.empty()) parts.spare.push_back(count);
  if (!terminal_) {
    fmt::print(stderr, "kindred: {}: {}\n", what_, Joined(parts));
    return;
  }
  if (total_ > 0) parts.share = static_cast<double>(done) / static_cast<double>(total_);
  const int columns = TerminalColumns();
  const std::string line = ProgressLine(std::move(parts), columns);
  fmt::print(stderr, "{}{}", Erase(columns), line);
  drawn_ = DisplayWidth(line);
}

// What clears the bar's line, also when the window became so narrow that it takes several rows.
std::string Progress::Erase(int columns) const {
  const size_t rows_above = drawn_ > 0 ? (drawn_ - 1) / static_cast<size_t>(columns) : 0;
  return rows_above > 0 ? fmt::format("\r\x1b[{}A\x1b[J", rows_above) : "\r\x1b[K";
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

std::string HumanTimeLeft(double seconds) {
  constexpr double kMost = 1e9;  // 30 years
  const auto whole = static_cast<int64_t>(std::min(seconds, kMost) + 0.5);
  if (whole < 120) return fmt::format("{} s left", whole);
  if (whole < 7200) return fmt::format("{} min left", whole / 60);
  return HumanDuration(static_cast<double>(whole)) + " left";
}

}  // namespace kindred
