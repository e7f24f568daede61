#include "cli/dashboard_flags.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

namespace kindred {
namespace {

// A token that stays the same from run to run, for who reads /metrics.
std::string TokenFrom(const std::string& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    throw UsageError("{}: others may read it; chmod 600 {}", Printable(file), Printable(file));
  }
  const Bytes bytes = ReadFile(file, 1024);
  std::string token(bytes.begin(), bytes.end());
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  const bool plain = std::all_of(token.begin(), token.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (token.size() < 16 || !plain) {
    throw UsageError("{}: a token has at least 16 letters, digits, dots, dashes or underscores",
                     Printable(file));
  }
  return token;
}

}  // namespace

void AddDashboardFlags(CLI::App& command, const std::shared_ptr<DashboardFlags>& flags) {
  command
      .add_option(
          "--dashboard",
          [flags](const CLI::results_t& given) {
            flags->wanted = true;
            if (!given.empty() && !given[0].empty()) flags->options.listen = given[0];
            return true;
          },
          "a live page of the run; HOST:PORT, 127.0.0.1:7480 when left out, port 0: any")
      ->expected(0, 1)
      ->type_name("[HOST:PORT]");
  command.add_option("--dashboard-token", flags->token_file,
                     "a file with the page's token; default: one is drawn");
}

std::unique_ptr<Dashboard> OpenDashboard(const DashboardFlags& flags, const RunDir& dir) {
  if (!flags.wanted) {
    if (!flags.token_file.empty()) throw UsageError("--dashboard-token goes with --dashboard");
    return nullptr;
  }
  DashboardOptions options = flags.options;
  if (!flags.token_file.empty()) options.token = TokenFrom(flags.token_file);
  auto dashboard = std::make_unique<Dashboard>(options, dir);
  if (flags.token_file.empty()) {
    spdlog::info("dashboard: {}", dashboard->Url());
  } else {  // logs are kept and read by others: a token that stays is not for them
    spdlog::info("dashboard: http://{}/#token= and what is in {}", dashboard->address(),
                 Printable(flags.token_file));
  }
  if (!dashboard->OnLoopback()) {
    spdlog::warn(
        "the dashboard speaks plain HTTP beyond this machine: who is on the way reads its token; "
        "put a proxy with TLS before it, or use a tunnel to 127.0.0.1");
  }
  return dashboard;
}

}  // namespace kindred
