// Running the program as a user does.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace kindred {

struct Ran {
  int code = -1;
  std::string out, err;
};

// Runs `PROGRAM ARGUMENTS` in a shell, in `folder`, with a cache of its own there.
inline Ran RunProgram(const TemporaryFolder& folder, const std::string& program,
                      const std::string& arguments, const std::string& environment = "") {
  const auto errors = folder.path() / ".stderr";
  const std::string command = fmt::format(
      "cd '{}' && env XDG_CACHE_HOME='{}/.cache' {} {} {} 2>'{}'", folder.path().string(),
      folder.path().string(), environment, program, arguments, errors.string());
  Ran ran;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    ran.out.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  const Bytes text = ReadFile(errors, 1 << 20);
  ran.err.assign(text.begin(), text.end());
  std::filesystem::remove(errors);
  return ran;
}

// The same with the program that was built.
inline Ran Kindred(const TemporaryFolder& folder, const std::string& arguments,
                   const std::string& environment = "") {
  return RunProgram(folder, KINDRED_PROGRAM, arguments, environment);
}

// One line that names the trouble, nothing on stdout, the exit code.
inline void ExpectFailure(const Ran& ran, int code, const std::string& part) {
  EXPECT_EQ(ran.code, code) << ran.err;
  EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(ran.out, "");
}

}  // namespace kindred
