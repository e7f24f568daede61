// `kindred eval knn|linear|semi|finetune`: what an encoder is worth to who has labels.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/learning_library.h"
#include "run/metric_commands.h"

namespace kindred {

void AddEvalCommand(CLI::App& app, Program& program) {
  CLI::App* eval = app.add_subcommand("eval", "Measure an encoder on labelled images");
  eval->require_subcommand(1);
  for (const MetricCommand& metric : MetricCommands()) {
    auto flags = std::make_shared<EvalFlags>();
    flags->metric = metric.name;
    CLI::App* command = AddCommand(*eval, program, metric.name, metric.summary,
                                   [flags] { return LoadLearning().eval(*flags); });
    AddEncoderFlags(*command, flags->encoder, true);
    AddConfigFlags(*command, flags->config);
    const auto add = [&](const MetricFlag& flag) {
      const std::string meaning = fmt::format("{}; short for --set {}=...", flag.meaning, flag.key);
      const auto give = [flags, flag](const std::string& value) {
        flags->config.given.push_back({flag.key, value, flag.flag});
      };
      if (flag.value != nullptr) {
        command->add_flag_callback(
            flag.flag, [give, flag] { give(flag.value); }, meaning);
      } else {
        command->add_option_function<std::string>(flag.flag, give, meaning);
      }
    };
    for (const auto& flag : metric.flags) add(flag);
    add({"--workers", "train.workers", "threads; 0: one per core"});
  }
}

}  // namespace kindred
