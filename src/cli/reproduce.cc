// `kindred reproduce`: the paper's tables.
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/stop.h"
#include "client/round.h"
#include "model/one_thread.h"
#include "run/reproduction.h"

namespace kindred {
namespace {

struct ReproduceFlags {
  TableChoice choice;
  std::string out;
  std::vector<std::string> known;
  bool plan_only = false;
  bool tables_only = false;
};

CommandResult Reproduce(const ReproduceFlags& flags) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const std::string out = flags.out.empty() ? "runs/reproduce-" + flags.choice.scale : flags.out;
  Reproduction reproduction(flags.choice, out, {flags.known.begin(), flags.known.end()});
  if (!flags.known.empty()) {
    spdlog::info("{} numbers are taken from --known", reproduction.Taken());
  }
  try {
    if (!flags.tables_only) reproduction.Estimate(stop);
    const std::string plan = reproduction.PlanText();
    if (flags.plan_only) return {plan, reproduction.PlanJson()};
    for (size_t at = 0;
         at < plan.size() && !flags.tables_only;) {  // a line each: logs go to stderr
      const size_t end = plan.find('\n', at);
      if (end > at) spdlog::info("{}", plan.substr(at, end - at));
      at = end + 1;
    }
    if (flags.tables_only) {
      reproduction.WriteTables();
    } else {
      reproduction.Run(stop);
    }
  } catch (const Interrupted&) {
    spdlog::info("stopped; the same command goes on");
    throw Stopped{};
  }
  CommandResult result;
  Json tables = Json::array();
  for (const auto& table : reproduction.Tables()) {
    result.text += ToMarkdown(table);
    tables.push_back(ToJson(table));
  }
  result.json = {{"out", out}, {"tables", tables}};
  for (const auto& why : reproduction.Failures()) result.json["failed"].push_back(why);
  if (result.json.contains("failed")) result.code = ExitCode::kData;
  result.text += fmt::format("{}/ tables.html, tables.md, tables.csv, tables.json{}\n", out,
                             FileExists(reproduction.out() / "runs") ? ", scores/, runs/" : "");
  return result;
}

}  // namespace

void AddReproduceCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<ReproduceFlags>();
  CLI::App* command =
      AddCommand(app, program, "reproduce", "The paper's tables, with its numbers beside ours",
                 [flags] { return Reproduce(*flags); });
  TableChoice& choice = flags->choice;
  const auto list = [&](const char* flag, std::vector<std::string>& into, const char* meaning) {
    command->add_option(flag, into, meaning)->delimiter(',')->allow_extra_args(false)->take_all();
  };
  list("--table", choice.tables, "linear, semi, finetune, ablation; default: all; with commas");
  command->add_option("--scale", choice.scale, "full, small, lab or tiny")->capture_default_str();
  list("--datasets", choice.datasets, "default: cifar10,fashion-mnist,cifar100");
  list("--settings", choice.settings, "default: noniid1,iid,noniid2; the ablation: noniid1");
  list("--methods", choice.methods, "rows, such as ccl,simclr,moco; default: all");
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
                        "train and evaluate nothing: the tables of what is there");
  command->add_flag("--plan", flags->plan_only, "only say what would be done and how long it takes")
      ->excludes(only_tables);
}

}  // namespace kindred
