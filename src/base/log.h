// The program's log: lines on stderr, so that stdout holds results alone.
#pragma once

#include <spdlog/spdlog.h>

#include <filesystem>

namespace kindred {

// Sends spdlog's lines to stderr as "kindred: message" (warnings and errors are marked), coloured
// on a terminal. Call once, first thing in main.
void StartLog();

// Appends what is logged from now on to a file as well, with the time. A file that cannot be
// written is a warning.
void LogAlsoTo(const std::filesystem::path& path);

}  // namespace kindred
