// `kindred train`: a federation in this process, or in the ranks of an MPI job.
#include "cli/command.h"
#include "cli/dashboard_flags.h"
#include "cli/learning_library.h"

namespace kindred {

void AddTrainCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* command = AddCommand(app, program, "train",
                                 "Train a federation in this process, or on the ranks of mpirun",
                                 [flags, &program] {
                                   program.go_on = "run the same command with --resume to continue";
                                   return LoadLearning().train(*flags);
                                 });
  AddConfigFlags(*command, flags->config);
  AddRunFlags(*command, flags->run);
  AddDashboardFlags(*command, flags->page);
  command->add_option_function<std::string>(
      "--workers",
      [flags](const std::string& value) {
        flags->config.given.push_back({"train.workers", value, "--workers"});
      },
      "clients trained at a time, short for --set train.workers=...");
}

}  // namespace kindred
