// How Kindred stops: one exception type for what the user or the machine did, Check for our bugs.
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kindred {

[[noreturn]] void CheckFailed(std::string_view message, const std::source_location& place);

// Exit codes of the program; the error that ends a command carries one.
enum class ExitCode {
  kDone = 0,
  kUsage = 2,     // the command line or the configuration
  kData = 3,      // a dataset, an image, a file of ours
  kNetwork = 4,   // the network or an identity
  kExists = 5,    // refused to overwrite
  kInternal = 70  // our fault
};

// Something outside stops us. The message is one line: what, on what, why, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

template <class... Args>
Error UsageError(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::kUsage, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error DataError(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::kData, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error NetworkError(fmt::format_string<Args...> format, Args&&... args) {
  return {ExitCode::kNetwork, fmt::format(format, std::forward<Args>(args)...)};
}

// Prints the place and aborts unless `condition` holds. For bugs of ours only: input never gets
// here.
inline void Check(bool condition, std::string_view message,
                  const std::source_location& place = std::source_location::current()) {
  if (!condition) [[unlikely]]
    CheckFailed(message, place);
}

// The text as valid UTF-8 with control characters and stray bytes made visible, cut to a readable
// length: for putting names and bytes that came from outside into a one-line message or a picture.
std::string Printable(std::string_view text);

// At most so many bytes of valid UTF-8, whole characters, "..." where something was cut.
std::string Shortened(const std::string& text, size_t most);

}  // namespace kindred
