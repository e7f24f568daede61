#include "fetch/npm_package.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace kindred {
namespace {

// Runs a program with stdout and stderr closed off; its exit code, or -1 when it was killed.
int RunQuietly(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw Error(ExitCode::kNetwork,
                fmt::format("{} cannot be run ({}); install it, or take another "
                            "source with --from",
                            words[0], std::strerror(failed)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::filesystem::path PackNpmPackage(const std::string& package,
                                     const std::filesystem::path& folder) {
  const int code = RunQuietly({"npm", "pack", package, "--silent", "--pack-destination",
                               std::filesystem::absolute(folder).string()});
  if (code != 0) {
    throw Error(
        ExitCode::kNetwork,
        fmt::format("`npm pack {}` failed with code {}; run it by hand to see why", package, code));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".tgz") return entry.path();
  }
  throw Error(ExitCode::kNetwork, fmt::format("`npm pack {}` left no archive", package));
}

}  // namespace kindred
