// The program's log: lines on stderr, so that stdout holds results alone.
#pragma once

#include <spdlog/spdlog.h>

namespace kindred {

// Sends spdlog's lines to stderr as "kindred: message" (warnings and errors are marked), coloured
// on a terminal. Call once, first thing in main.
void StartLog();

}  // namespace kindred
