#include "command/open_dashboard.h"

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
