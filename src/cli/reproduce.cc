// `kindred reproduce`: the paper's tables.
#include "cli/command.h"
#include "cli/learning_library.h"

namespace kindred {

void AddReproduceCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* command =
      AddCommand(app, program, "reproduce", "The paper's tables, with its numbers beside ours",
                 [flags, &program] {
                   program.go_on = "run the same command again to continue";
                   return LoadLearning().reproduce(*flags);
                 });
  TableChoice& choice = flags->choice;
  const auto list = [&](const char* flag, std::vector<std::string>& into, const char* meaning) {
    command->add_option(flag, into, meaning)->delimiter(',')->allow_extra_args(false)->take_all();
  };
  list("--table", choice.tables, "linear, semi, finetune, ablation; default: all; with commas");
  command->add_option("--scale", choice.scale, "full, small, long, mid, lab or tiny")
      ->capture_default_str();
  list("--datasets", choice.datasets, "default: cifar10,fashion-mnist,cifar100");
  list("--settings", choice.settings, "default: noniid1,iid,noniid2; the ablation: noniid1");
  list("--methods", choice.methods,
       "rows, such as ccl,simclr; of the ablation cl,cl_ff,cl_ff_nm; default: all");
  command->add_option("--seeds", choice.seeds, "runs of each cell, train.seed 0, 1, ...")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_option("--set", choice.assignments, "section.key=value, over everything; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--out", flags->out,
                      "default: runs/reproduce-SCALE; goes on with what is there");
  command
      ->add_option("--known", flags->known,
                   "a tables.json of another machine or time: its numbers are not made again; "
                   "repeatable")
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option* only_tables =
      command->add_flag("--only-tables", flags->tables_only,
                        "train and evaluate nothing; only write the tables of existing results");
  command->add_flag("--plan", flags->plan_only, "only say what would be done and how long it takes")
      ->excludes(only_tables);
}

}  // namespace kindred
