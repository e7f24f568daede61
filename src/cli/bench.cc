// `kindred bench`: how fast this machine trains, where a step's time goes, and what to set.
#include "cli/command.h"
#include "cli/learning_library.h"

namespace kindred {

void AddBenchCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command =
      AddCommand(app, program, "bench", "Measure training speed and suggest settings",
                 [flags] { return LoadLearning().bench(*flags); });
  AddConfigFlags(*command, flags->config);
  command->add_option("--turns", flags->turns, "measurements per setting; the median counts")
      ->check(CLI::Range(1, 1000));
  command->add_option("--steps", flags->steps, "batches per client in a measurement")
      ->check(CLI::Range(1, 10000));
}

}  // namespace kindred
