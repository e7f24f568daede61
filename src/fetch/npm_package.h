// Packages of the npm registry, through the npm client as it is set up on this machine.
#pragma once

#include <filesystem>
#include <string>

namespace kindred {

// Runs `npm pack PACKAGE` (such as "name@1.2.3") and returns the archive, which is put into
// `folder`. npm checks its integrity. Throws a network error when npm is missing or fails.
std::filesystem::path PackNpmPackage(const std::string& package,
                                     const std::filesystem::path& folder);

}  // namespace kindred
