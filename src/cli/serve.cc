// `kindred serve`: the coordinator of a federation over a network.
#include "cli/command.h"
#include "cli/dashboard_flags.h"
#include "cli/learning_library.h"

namespace kindred {

void AddServeCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = AddCommand(app, program, "serve", "Coordinate a federation over a network",
                                 [flags, &program] {
                                   program.go_on = "run the same command with --resume to continue";
                                   return LoadLearning().serve(*flags);
                                 });
  AddConfigFlags(*command, flags->config);
  AddRunFlags(*command, flags->run);
  AddDashboardFlags(*command, flags->page);
  command->add_option("--listen", flags->listen, "HOST:PORT to listen on; port 0: any")
      ->capture_default_str();
  command
      ->add_option("--pki", flags->pki,
                   "the folder that `kindred pki init` made, or its coordinator/ alone")
      ->required();
  command->add_flag("--plain-text", flags->plain_text,
                    "no TLS, and names are taken on trust: on loopback, for trying things out");
}

}  // namespace kindred
