#include "fetch/download.h"

#include <curl/curl.h>
#include <sys/file.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/progress.h"

namespace kindred {
namespace {

// Where the bytes of one attempt go.
struct Sink {
  std::FILE* file;
  uint64_t size;  // of the file so far
  uint64_t limit;
  Progress* progress;
  bool too_large = false;
  bool disk_failed = false;
};

size_t OnBytes(char* data, size_t one, size_t count, void* context) {
  auto& sink = *static_cast<Sink*>(context);
  const size_t bytes = one * count;
  if (bytes > sink.limit - sink.size) {
    sink.too_large = true;
    return 0;
  }
  if (std::fwrite(data, 1, bytes, sink.file) != bytes) {
    sink.disk_failed = true;
    return 0;
  }
  sink.size += bytes;
  sink.progress->At(sink.size);
  return bytes;
}

// How one attempt ended.
enum class Outcome { kDone, kBroken, kRestart, kRefused, kTooLarge };

struct Attempt {
  Outcome outcome;
  std::string why;
};

Attempt TryOnce(const std::string& url, const std::filesystem::path& part,
                const DownloadOptions& options) {
  const uint64_t have = FileExists(part) ? std::filesystem::file_size(part) : 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(part.c_str(), "ab"),
                                                             std::fclose);
  if (file == nullptr) throw DataError("{}: cannot write here", Printable(part.string()));
  if (::flock(::fileno(file.get()), LOCK_EX | LOCK_NB) != 0) {
    throw DataError("{}: another download is writing it; wait for it to end",
                    Printable(part.string()));
  }
  if (have > options.limit) return {Outcome::kTooLarge, ""};
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  if (curl == nullptr) throw std::bad_alloc();
  Progress progress("downloading " + url.substr(url.find_last_of('/') + 1), 0, "B");
  Sink sink{.file = file.get(), .size = have, .limit = options.limit, .progress = &progress};
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, long{options.connect_seconds});
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1000L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, long{options.stalled_seconds});
  curl_easy_setopt(curl.get(), CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(have));
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, OnBytes);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, reason);
  const CURLcode result = curl_easy_perform(curl.get());
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);

  if (sink.disk_failed || std::fflush(file.get()) != 0) {
    throw DataError("{}: the disk is full or cannot be written", Printable(part.string()));
  }
  if (sink.too_large) return {Outcome::kTooLarge, ""};
  if (result == CURLE_OK) return {Outcome::kDone, ""};
  const std::string why = reason[0] != '\0' ? reason : curl_easy_strerror(result);
  // 416: the range begins at the end, all is here. A server without ranges: begin anew.
  if (have > 0 && status == 416) return {Outcome::kDone, ""};
  if (result == CURLE_RANGE_ERROR) return {Outcome::kRestart, why};
  // Once the server has answered with content, a failure is a broken transfer.
  const bool answered = status >= 200 && status < 300;
  return {answered ? Outcome::kBroken : Outcome::kRefused, why};
}

}  // namespace

std::string WithoutPassword(const std::string& url) {
  const auto start = url.find("://");
  const auto end = start == std::string::npos ? start : url.find('/', start + 3);
  const auto at = url.substr(0, end).rfind('@');
  if (start == std::string::npos || at == std::string::npos) return Printable(url);
  return Printable(url.substr(0, start + 3) + url.substr(at + 1));
}

void Download(const std::string& url, const std::filesystem::path& part,
              const DownloadOptions& options) {
  std::chrono::milliseconds pause(options.first_pause_ms);
  Attempt last{};
  for (int attempt = 0; attempt < options.tries; ++attempt) {
    if (attempt > 0) {
      std::this_thread::sleep_for(pause);
      pause *= 2;
    }
    last = TryOnce(url, part, options);
    if (last.outcome == Outcome::kDone) return;
    if (last.outcome == Outcome::kRefused) {
      if (std::filesystem::file_size(part) == 0) std::filesystem::remove(part);
      throw Error(ExitCode::kNetwork,
                  fmt::format("{}: {}", WithoutPassword(url), Printable(last.why)));
    }
    if (last.outcome == Outcome::kBroken) continue;
    std::filesystem::remove(part);
    if (last.outcome == Outcome::kTooLarge) {
      throw DataError("{}: more than {} bytes: not the file that was published",
                      WithoutPassword(url), options.limit);
    }
  }
  throw DataError("{}: the download broke off {} times ({}); run the command again to go on",
                  WithoutPassword(url), options.tries, Printable(last.why));
}

}  // namespace kindred
