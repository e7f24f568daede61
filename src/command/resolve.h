// From flags to a checked configuration.
#pragma once

#include "command/flags.h"
#include "run/experiment.h"

namespace kindred {

// Defaults, then the files, the environment, --set and the command's own words; all checked.
Resolved Resolve(const ConfigFlags& flags);

// A client's: its kit (a folder) says where the coordinator is, and the owner's configuration wins
// over it. `data`, unless empty, is a folder of images where no dataset is named.
Resolved ResolveClient(ConfigFlags flags, const std::string& kit, const std::string& data);

}  // namespace kindred
