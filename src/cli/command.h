// What the commands have in common: the flags of a configuration, and a result in two forms.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "run/experiment.h"
#include "run/trained_encoder.h"

namespace kindred {

// What a command found or made: for people, and for programs (--json). One of them goes to stdout.
struct CommandResult {
  std::string text;
  Json json = Json::object();
  ExitCode code = ExitCode::kDone;  // of the program, when what was found is bad news
  bool silent = false;              // another process says it
};

// The command that the command line chose; main runs it after parsing.
struct Program {
  std::function<CommandResult()> chosen;
  bool json = false;
};

// Thrown by a command that a signal stopped: the message has been printed.
struct Stopped {};
constexpr int kStoppedBySignal = 130;  // what shells call it

// Flags of a command that reads a configuration.
struct ConfigFlags {
  std::vector<std::string> files;  // later ones over earlier ones
  std::vector<std::string> assignments;
  // Values given by other flags or words of the command: (key, value, how it was given).
  std::vector<std::array<std::string, 3>> given;
};

// Adds a command with --json and, when chosen, its action.
CLI::App* AddCommand(CLI::App& parent, Program& program, const std::string& name,
                     const std::string& summary, std::function<CommandResult()> action);

// Adds --config and --set.
void AddConfigFlags(CLI::App& command, const std::shared_ptr<ConfigFlags>& flags);

// Adds the word DATASET and --path, short for data.name and data.path.
void AddDatasetWords(CLI::App& command, const std::shared_ptr<ConfigFlags>& flags);

// Defaults, then the files, the environment, --set and the command's own words; all checked.
Resolved Resolve(const ConfigFlags& flags);

// An encoder and the experiment it is looked at with: --run, --round.
struct EncoderFlags {
  std::vector<std::string> runs;
  int round = -1;  // not given
};

// Adds --run (repeatable when `several`) and --round.
void AddEncoderFlags(CLI::App& command, const std::shared_ptr<EncoderFlags>& flags, bool several);

// The encoder at `path`.
TrainedEncoder OpenEncoder(const EncoderFlags& flags, const std::string& path);

// The configuration to look at it with: --config, else the run's own. An exported encoder brings
// the names of its dataset and partition; a folder of images is scaled to what the encoder takes.
Resolved ResolveFor(ConfigFlags config, const TrainedEncoder& trained);

// The commands, in the order help lists them; each is in the file of its name.
void AddListCommand(CLI::App& app, Program& program);
void AddConfigCommand(CLI::App& app, Program& program);
void AddDataCommand(CLI::App& app, Program& program);
void AddTrainCommand(CLI::App& app, Program& program);
void AddServeCommand(CLI::App& app, Program& program);
void AddJoinCommand(CLI::App& app, Program& program);
void AddEvalCommand(CLI::App& app, Program& program);
void AddEmbedCommand(CLI::App& app, Program& program);
void AddExportCommand(CLI::App& app, Program& program);
void AddReproduceCommand(CLI::App& app, Program& program);
void AddReportCommand(CLI::App& app, Program& program);
void AddBenchCommand(CLI::App& app, Program& program);
void AddPkiCommand(CLI::App& app, Program& program);
void AddDoctorCommand(CLI::App& app, Program& program);
void AddDataGet(CLI::App& data, Program& program);
void AddDataInspect(CLI::App& data, Program& program);
void AddDataPartition(CLI::App& data, Program& program);
void AddDataPreview(CLI::App& data, Program& program);

}  // namespace kindred
