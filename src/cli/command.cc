#include "cli/command.h"

#include <unistd.h>

#include "base/error.h"

namespace kindred {

CLI::App* AddCommand(CLI::App& parent, Program& program, const std::string& name,
                     const std::string& summary, std::function<CommandResult()> action) {
  CLI::App* command = parent.add_subcommand(name, summary);
  command->add_flag("--json", program.json, "print the result as one JSON object");
  command->callback([&program, action = std::move(action)] { program.chosen = action; });
  return command;
}

void AddConfigFlags(CLI::App& command, const std::shared_ptr<ConfigFlags>& flags) {
  command
      .add_option(
          "--config", flags->files,
          "a TOML file; `kindred config show` prints one; repeatable: a key in a later file wins")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--set", flags->assignments, "section.key=value, over files; repeatable")
      ->take_all()
      ->allow_extra_args(false);
}

void AddDatasetWords(CLI::App& command, const std::shared_ptr<ConfigFlags>& flags) {
  const auto give = [flags](const char* key, const char* origin) {
    return [=](const std::string& value) { flags->given.push_back({key, value, origin}); };
  };
  command.add_option_function<std::string>("dataset", give("data.name", "the command line"),
                                           "short for --set data.name=...");
  command.add_option_function<std::string>("--path", give("data.path", "--path"),
                                           "short for --set data.path=...");
}

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

void AddEncoderFlags(CLI::App& command, const std::shared_ptr<EncoderFlags>& flags, bool several) {
  auto* run = command
                  .add_option("--run", flags->runs,
                              several ? "a run, a checkpoint or an exported encoder; repeatable"
                                      : "a run, a checkpoint or an exported encoder")
                  ->required()
                  ->allow_extra_args(false);
  if (!several) run->expected(1);
  command.add_option("--round", flags->round, "of a run; 0: its random start; default: the newest")
      ->check(CLI::Range(0, 1000000));
}

TrainedEncoder OpenEncoder(const EncoderFlags& flags, const std::string& path) {
  return OpenTrainedEncoder(path, flags.round < 0 ? std::nullopt : std::optional(flags.round));
}

Resolved ResolveFor(ConfigFlags config, const TrainedEncoder& trained) {
  if (config.files.empty() && trained.run) config.files = {trained.run->config().string()};
  Resolved resolved = Resolve(config);
  DataOptions& data = resolved.experiment->data;
  const auto untouched = [&](const char* key) {
    return resolved.config.OriginOf(key) == "default";
  };
  if (!trained.run) {
    const auto bring = [&](const char* field, const char* key) {
      if (untouched(key) && trained.origin.contains(field)) {
        resolved.config.Apply(key, trained.origin[field].get<std::string>(), trained.path);
      }
    };
    bring("dataset", "data.name");
    bring("scheme", "partition.scheme");
  }
  const ImageShape& shape = trained.encoder.input.shape;
  if (data.name == "folder") {
    if (data.size == 0) data.size = shape.height;
    if (untouched("data.channels")) data.channels = shape.channels;
  }
  return resolved;
}

}  // namespace kindred
