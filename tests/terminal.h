// A pseudo-terminal, and a model of what a terminal's screen shows.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace kindred {

// The rows that a terminal shows after what was written to it: it wraps at its width, and wraps its
// lines anew when the width changes. Knows carriage return, line feed, erasing, moving up; colours
// are passed over. Never scrolls.
class Screen {
 public:
  explicit Screen(size_t columns) : columns_(columns) {}

  void Resize(size_t columns) {
    columns_ = columns;
    full_ = false;
  }

  void Feed(const std::string& bytes) {
    for (const char byte : bytes) Feed(byte);
  }

  // Without spaces at their ends; a wide character is followed by an empty cell.
  std::vector<std::string> Rows() const {
    std::vector<std::string> rows;
    for (const auto& line : lines_) {
      for (size_t at = 0; at == 0 || at < line.size(); at += columns_) {
        std::string row;
        for (size_t i = at; i < std::min(at + columns_, line.size()); ++i) row += line[i];
        rows.push_back(row.substr(0, row.find_last_not_of(' ') + 1));
      }
    }
    return rows;
  }

  // How many rows hold this.
  int Count(const std::string& text) const {
    const auto rows = Rows();
    return static_cast<int>(std::count_if(rows.begin(), rows.end(), [&](const auto& row) {
      return row.find(text) != std::string::npos;
    }));
  }

  // Lines that take more than a row and hold this.
  int Wrapped(const std::string& text) const {
    return static_cast<int>(std::count_if(lines_.begin(), lines_.end(), [&](const auto& line) {
      std::string all;
      for (const auto& cell : line) all += cell;
      return line.size() > columns_ && all.find(text) != std::string::npos;
    }));
  }

 private:
  using Line = std::vector<std::string>;  // a UTF-8 character per cell

  void Feed(char byte) {
    if (!escape_.empty()) {
      escape_ += byte;
      if (escape_.size() > 2 && byte >= '@') {
        Obey();
        escape_.clear();
      }
      return;
    }
    if ((byte & 0xc0) == 0x80) {  // goes on with a character
      lines_[line_][last_] += byte;
      if (lines_[line_][last_].size() == 3 && lines_[line_][last_] >= "\u1100") Put("");
      return;
    }
    if (byte == '\x1b') {
      escape_ = byte;
    } else if (byte == '\r') {
      at_ = RowStart();
      full_ = false;
    } else if (byte == '\n') {
      Down();
    } else if (static_cast<unsigned char>(byte) >= ' ') {
      Put(std::string(1, byte));
      last_ = at_ - 1;
    }
  }

  // The cursor waits behind a full row until the next character.
  size_t RowStart() const { return (full_ ? at_ - 1 : at_) / columns_ * columns_; }

  void Put(const std::string& character) {
    Line& line = lines_[line_];
    if (line.size() <= at_) line.resize(at_ + 1, " ");
    line[at_++] = character;
    full_ = at_ % columns_ == 0;
  }

  void Down() {
    const size_t column = at_ - RowStart(), next = RowStart() + columns_;
    if (next < lines_[line_].size()) {
      at_ = next + column;
    } else {
      if (++line_ == lines_.size()) lines_.emplace_back();
      at_ = column;
    }
    full_ = false;
  }

  void Up() {
    const size_t column = at_ - RowStart();
    if (RowStart() > 0) {
      at_ = RowStart() - columns_ + column;
    } else if (line_ > 0) {
      const size_t size = lines_[--line_].size();
      at_ = (size > 0 ? (size - 1) / columns_ * columns_ : 0) + column;
    }
    full_ = false;
  }

  void Obey() {
    const std::string number = escape_.substr(2, escape_.size() - 3);
    Line& line = lines_[line_];
    const size_t end = RowStart() + columns_;
    if (escape_.back() == 'K') {
      if (end < line.size()) {
        std::fill(line.begin() + static_cast<long>(at_), line.begin() + static_cast<long>(end),
                  " ");
      } else {
        line.resize(std::min(at_, line.size()));
      }
    } else if (escape_.back() == 'J') {
      line.resize(std::min(at_, line.size()));
      lines_.resize(line_ + 1);
    } else if (escape_.back() == 'A') {
      for (int n = number.empty() ? 1 : std::stoi(number); n > 0; --n) Up();
    } else {
      EXPECT_EQ(escape_.back(), 'm') << "the model does not know " << escape_.substr(1);
    }
  }

  size_t columns_;
  std::vector<Line> lines_ = {{}};  // as they were written, however many rows they take
  size_t line_ = 0, at_ = 0;        // the cursor
  size_t last_ = 0;                 // the cell of the last character
  bool full_ = false;
  std::string escape_;
};

class PseudoTerminal {
 public:
  explicit PseudoTerminal(int columns) {
    const winsize size = Size(columns);
    EXPECT_EQ(::openpty(&master_, &slave_, nullptr, nullptr, &size), 0);
    ::fcntl(master_, F_SETFD, FD_CLOEXEC);
    ::fcntl(slave_, F_SETFD, FD_CLOEXEC);
  }
  ~PseudoTerminal() {
    ::close(master_);
    CloseSlave();
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  int slave() const { return slave_; }
  void CloseSlave() {
    if (slave_ >= 0) ::close(slave_);
    slave_ = -1;
  }

  void Resize(int columns) {
    const winsize size = Size(columns);
    EXPECT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
  }

  // All that was written so far.
  std::string Written() {
    constexpr char kEnd = '\x05';  // written by none but us
    EXPECT_EQ(::write(slave_, &kEnd, 1), 1);
    std::string bytes;
    while (bytes.empty() || bytes.back() != kEnd) {
      const std::string more = Read();
      if (more.empty()) break;
      bytes += more;
    }
    if (!bytes.empty()) bytes.pop_back();
    return bytes;
  }

  // What comes next; empty when no program has the terminal any more.
  std::string Read() {
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(master_, buffer.data(), buffer.size());
    return got > 0 ? std::string(buffer.data(), static_cast<size_t>(got)) : "";
  }

 private:
  static winsize Size(int columns) {
    return {.ws_row = 24, .ws_col = static_cast<unsigned short>(columns)};
  }

  int master_ = -1, slave_ = -1;
};

}  // namespace kindred
