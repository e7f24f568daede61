#include "cli/command.h"

namespace kindred {

void AddConfigCommand(CLI::App& app, Program& program) {
  CLI::App* config = app.add_subcommand("config", "The configuration");
  config->require_subcommand(1);
  auto flags = std::make_shared<ConfigFlags>();
  CLI::App* show = AddCommand(
      *config, program, "show", "Print the resolved configuration as a TOML file", [flags] {
        const Resolved resolved = Resolve(*flags);
        return CommandResult{resolved.config.ToToml(), Json::parse(resolved.config.ToJson())};
      });
  AddConfigFlags(*show, *flags);
}

}  // namespace kindred
