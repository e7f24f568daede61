// `kindred bench`: how fast this machine trains, where a step's time goes, and what to set.
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "command/learning.h"
#include "command/resolve.h"
#include "command/stop.h"
#include "kernel/kernel_path.h"
#include "model/library_kernels.h"
#include "model/one_thread.h"
#include "run/speed.h"

namespace kindred {
namespace {

std::string BenchText(const Speed& speed, const Experiment& experiment) {
  const int clients = UsualClients(experiment);
  const Spending& best = BestFor(clients, speed.spendings);
  std::vector<std::vector<std::string>> rows = {{"engine", "workers", "threads", "images/s"}};
  for (const auto& way : speed.spendings) {
    rows.push_back({way.engine, std::to_string(way.workers), std::to_string(way.threads),
                    fmt::format("{:.1f}{}", way.images_per_second, &way == &best ? "  best" : "")});
  }
  std::string text = TextTable(rows) + "\n";
  std::vector<std::vector<std::string>> parts = {
      {fmt::format("a step of {} images of {}, {} engine, one core", experiment.train.batch,
                   experiment.method.name, speed.engine),
       "ms", "share"}};
  for (const auto& part : speed.parts) {
    parts.push_back({part.name, fmt::format("{:.1f}", 1e3 * part.seconds),
                     fmt::format("{:.1f} %", 100 * part.seconds / speed.step_seconds)});
  }
  text += TextTable(parts) + "\n";
  text += fmt::format(
      "set train.engine = \"{}\" and train.workers = {} for rounds of {} client{}. A worker takes "
      "about {:.0f} MB.\n",
      best.engine, best.cores, clients, clients == 1 ? "" : "s", speed.bytes_per_worker / 1e6);
  if (clients > 1) {
    const Spending& alone = BestFor(1, speed.spendings);
    text += fmt::format(
        "for rounds of one client: train.engine = \"{}\" and train.workers = {}, threads inside "
        "it\n",
        alone.engine, alone.cores);
  }
  const Json libraries = LibraryKernels();
  text +=
      fmt::format("kernels of the libraries: OpenBLAS {}, ATen {}, oneDNN {}, LIBXSMM {}\n",
                  libraries["openblas"].get<std::string>(), libraries["aten"].get<std::string>(),
                  libraries["onednn"].get<std::string>(), libraries["libxsmm"].get<std::string>());
  if (BestKernelPath() == KernelPath::kPortable) {
    text += "this CPU has no AVX2 with FMA: the fast engine runs its portable code\n";
  }
  return text;
}

}  // namespace

CommandResult Bench(const BenchFlags& flags) {
  UseOneThread();
  const Resolved resolved = Resolve(flags.config);
  const Experiment& experiment = *resolved.experiment;
  std::optional<Progress> progress;
  const Speed speed = MeasureSpeed(experiment, {.turns = flags.turns,
                                                .steps = flags.steps,
                                                .most_workers = experiment.train.workers,
                                                .stop = &StopOnSignals(),
                                                .on_measured = [&](int done, int all) {
                                                  if (!progress)
                                                    progress.emplace("bench", all, "measurements");
                                                  progress->At(static_cast<uint64_t>(done));
                                                }});
  progress.reset();
  CommandResult result = {.text = BenchText(speed, experiment)};
  for (const auto& way : speed.spendings) {
    result.json["speeds"].push_back({{"engine", way.engine},
                                     {"workers", way.workers},
                                     {"threads", way.threads},
                                     {"images_per_second", way.images_per_second}});
  }
  Json& step = result.json["step"];
  step = {
      {"engine", speed.engine}, {"batch", experiment.train.batch}, {"seconds", speed.step_seconds}};
  for (const auto& part : speed.parts) {
    step["parts"].push_back({{"name", part.name}, {"seconds", part.seconds}});
  }
  const int clients = UsualClients(experiment);
  const Spending& best = BestFor(clients, speed.spendings);
  result.json["clients"] = clients;
  result.json["set"] = {{"train.engine", best.engine}, {"train.workers", best.cores}};
  result.json["bytes_per_worker"] = speed.bytes_per_worker;
  result.json["kernels"] = BestKernelPath() == KernelPath::kAvx2 ? "avx2" : "portable";
  result.json["libraries"] = LibraryKernels();
  return result;
}

}  // namespace kindred
