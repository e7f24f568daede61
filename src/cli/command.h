// What the commands have in common: how one is added, and the flags that several take.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <memory>
#include <string>

#include "command/flags.h"
#include "command/resolve.h"
#include "command/result.h"

namespace kindred {

// The command that the command line chose; main runs it after parsing.
struct Program {
  std::function<CommandResult()> chosen;
  std::string go_on = {};  // said after Ctrl-C; empty: nothing goes on
  bool json = false;
};

// Adds a command with --json and, when chosen, its action.
CLI::App* AddCommand(CLI::App& parent, Program& program, const std::string& name,
                     const std::string& summary, std::function<CommandResult()> action);

// Adds --config and --set. Flags outlive the command line, here and below.
void AddConfigFlags(CLI::App& command, ConfigFlags& flags);

// Adds the word DATASET and --path, short for data.name and data.path.
void AddDatasetWords(CLI::App& command, ConfigFlags& flags);

// Adds --out and --resume.
void AddRunFlags(CLI::App& command, RunFlags& flags);

// Adds --run (repeatable when `several`) and --round.
void AddEncoderFlags(CLI::App& command, EncoderFlags& flags, bool several);

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
