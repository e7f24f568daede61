#include "command/resolve.h"

#include <unistd.h>

#include <filesystem>

#include "base/file.h"

namespace kindred {

Resolved Resolve(const ConfigFlags& flags) {
  Resolved resolved;
  resolved.config = BindExperiment(*resolved.experiment);
  for (const auto& file : flags.files) resolved.config.ApplyFile(file);
  resolved.config.ApplyEnvironment(environ);
  for (const auto& assignment : flags.assignments) resolved.config.ApplyAssignment(assignment);
  for (const auto& [key, value, origin] : flags.given) resolved.config.Apply(key, value, origin);
  Validate(resolved.experiment->data);
  Validate(resolved.experiment->views);
  return resolved;
}

Resolved ResolveClient(ConfigFlags flags, const std::string& kit, const std::string& data) {
  const auto file = std::filesystem::path(kit) / "client.toml";
  if (FileExists(file)) flags.files.insert(flags.files.begin(), file.string());
  if (!data.empty()) flags.given.push_back({"data.path", data, "--data"});
  Resolved resolved = Resolve(flags);
  if (!data.empty() && resolved.config.OriginOf("data.name") == "default") {
    resolved.config.Apply("data.name", "folder", "--data");
  }
  return resolved;
}

}  // namespace kindred
