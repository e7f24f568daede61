// `kindred reproduce`: the paper's tables.
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/table.h"
#include "command/learning.h"
#include "command/stop.h"
#include "model/one_thread.h"
#include "reproduce/reproduction.h"

namespace kindred {

CommandResult Reproduce(const ReproduceFlags& flags) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const std::string out = flags.out.empty() ? "runs/reproduce-" + flags.choice.scale : flags.out;
  Reproduction reproduction(flags.choice, out, {flags.known.begin(), flags.known.end()});
  if (!flags.known.empty()) {
    spdlog::info("{} numbers are taken from --known", reproduction.Taken());
  }
  if (!flags.tables_only) reproduction.Estimate(stop);
  const std::string plan = reproduction.PlanText();
  if (flags.plan_only) return {plan, reproduction.PlanJson()};
  for (size_t at = 0; at < plan.size() && !flags.tables_only;) {  // line by line: logs go to stderr
    const size_t end = plan.find('\n', at);
    if (end > at) spdlog::info("{}", plan.substr(at, end - at));
    at = end + 1;
  }
  if (flags.tables_only) {
    reproduction.WriteTables();
  } else {
    reproduction.Run(stop);
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

}  // namespace kindred
