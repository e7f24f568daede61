// `kindred join`: one owner's images in a federation over a network.
#include "cli/command.h"
#include "cli/learning_library.h"

namespace kindred {

void AddJoinCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<JoinFlags>();
  CLI::App* command = AddCommand(app, program, "join", "Take part in a federation over a network",
                                 [flags, &program] {
                                   program.go_on = "run the same command again to continue";
                                   return LoadLearning().join(*flags);
                                 });
  AddConfigFlags(*command, flags->config);
  command->add_option("--kit", flags->kit, "the folder that `kindred pki issue` made")->required();
  command->add_option("--data", flags->data,
                      "this owner's images: a folder, unless the configuration names a dataset");
  command->add_option("--out", flags->out,
                      "where state and the trained model go; default: runs/join-NAME");
  command->add_flag("--plain-text", flags->plain_text,
                    "no TLS: a coordinator on this machine, for trying things out");
}

}  // namespace kindred
