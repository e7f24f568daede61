// One file over HTTP or HTTPS, resumed where an earlier attempt stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kindred {

struct DownloadOptions {
  uint64_t limit = 1ull << 30;  // most bytes taken
  int tries = 4;                // attempts, each resuming the one before
  int first_pause_ms = 500;     // before the second attempt; doubles
  int connect_seconds = 10;     // to reach the host
  int stalled_seconds = 30;     // below 1 kB/s for so long: the attempt has failed
};

// Fetches `url` into `part`, going on after what is already there. When it returns, the file is
// complete as far as the server says: check its content. Throws an error of the network (exit code
// 4) when the address cannot be reached or refuses, and a data error (3) when the transfer breaks
// off every time; then what came stays in `part` for the next call.
void Download(const std::string& url, const std::filesystem::path& part,
              const DownloadOptions& options = {});

// The address as it may be shown: without a user's name and password.
std::string WithoutPassword(const std::string& url);

}  // namespace kindred
