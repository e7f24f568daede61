// A program that runs beside the test, and ends with it at the latest.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace kindred {

class Process {
 public:
  // Starts `kindred ARGUMENTS` in a shell, in `folder`; what it prints is appended to `log` there.
  // `by`: how the shell starts it ("ulimit -f 200 && exec", or a launcher).
  Process(const std::filesystem::path& folder, const std::string& arguments, const std::string& log,
          const std::string& by = "exec")
      : log_(folder / log) {
    const std::string command =
        fmt::format("cd '{0}' && export XDG_CACHE_HOME='{0}/.cache' && {4} {1} {2} >>'{3}' 2>&1",
                    folder.string(), KINDRED_PROGRAM, arguments, log_.string(), by);
    std::string shell = "/bin/sh", flag = "-c", text = command;
    char* words[] = {shell.data(), flag.data(), text.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, shell.c_str(), nullptr, nullptr, words, environ), 0);
  }
  ~Process() { Kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The exit code when it has ended, -1 for a signal; nothing while it runs.
  std::optional<int> Ended() {
    if (code_) return code_;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return code_;
  }

  // The same, waiting; nothing when it still runs after so many seconds.
  std::optional<int> Wait(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!Ended() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return code_;
  }

  void Signal(int signal) {
    if (!Ended()) ::kill(pid_, signal);
  }

  // kill -9, and away.
  void Kill() {
    if (Ended()) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    code_ = -1;
  }

  pid_t pid() const { return pid_; }

  std::string Log() const {
    if (!FileExists(log_)) return "";
    const Bytes bytes = ReadFile(log_, 1 << 26);
    return {bytes.begin(), bytes.end()};
  }

  // The rest of the first line that holds `text`, behind it; waits for it.
  std::string After(const std::string& text, double seconds = 60) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
      const std::string log = Log();
      const auto at = log.find(text);
      const auto line = at == std::string::npos ? at : log.find('\n', at);
      if (line != std::string::npos) return log.substr(at + text.size(), line - at - text.size());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "no \"" << text << "\" in " << Log();
    return "";
  }

 private:
  std::filesystem::path log_;
  pid_t pid_ = 0;
  std::optional<int> code_;
};

}  // namespace kindred
