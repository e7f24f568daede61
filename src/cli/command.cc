#include "cli/command.h"

namespace kindred {

CLI::App* AddCommand(CLI::App& parent, Program& program, const std::string& name,
                     const std::string& summary, std::function<CommandResult()> action) {
  CLI::App* command = parent.add_subcommand(name, summary);
  command->add_flag("--json", program.json, "print the result as one JSON object");
  command->callback([&program, action = std::move(action)] { program.chosen = action; });
  return command;
}

void AddConfigFlags(CLI::App& command, ConfigFlags& flags) {
  command
      .add_option(
          "--config", flags.files,
          "a TOML file; `kindred config show` prints one; repeatable: a key in a later file wins")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--set", flags.assignments, "section.key=value, over files; repeatable")
      ->take_all()
      ->allow_extra_args(false);
}

void AddDatasetWords(CLI::App& command, ConfigFlags& flags) {
  const auto give = [&flags](const char* key, const char* origin) {
    return [&flags, key, origin](const std::string& value) {
      flags.given.push_back({key, value, origin});
    };
  };
  command.add_option_function<std::string>("dataset", give("data.name", "the command line"),
                                           "short for --set data.name=...");
  command.add_option_function<std::string>("--path", give("data.path", "--path"),
                                           "short for --set data.path=...");
}

void AddRunFlags(CLI::App& command, RunFlags& flags) {
  command.add_option("--out", flags.out, "the run's folder; default: runs/<method>-<data>-...");
  command.add_flag("--resume", flags.resume, "go on from the last checkpoint there");
}

void AddEncoderFlags(CLI::App& command, EncoderFlags& flags, bool several) {
  auto* run = command
                  .add_option("--run", flags.runs,
                              several ? "a run, a checkpoint or an exported encoder; repeatable"
                                      : "a run, a checkpoint or an exported encoder")
                  ->required()
                  ->allow_extra_args(false);
  if (!several) run->expected(1);
  command.add_option("--round", flags.round, "of a run; 0: its random start; default: the newest")
      ->check(CLI::Range(0, 1000000));
}

}  // namespace kindred
