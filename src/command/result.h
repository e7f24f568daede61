// What a command returns.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"

namespace kindred {

// What a command found or made: for people, and for programs (--json). One of them goes to stdout.
struct CommandResult {
  std::string text;
  Json json = Json::object();
  ExitCode code = ExitCode::kDone;  // of the program, when what was found is bad news
  bool silent = false;              // another process prints it
};

}  // namespace kindred
