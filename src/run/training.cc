#include "run/training.h"

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "run/simulation.h"
#include "server/checkpoint.h"

namespace kindred {

std::optional<std::string> OtherConfiguration(const RunDir& dir, const Resolved& resolved) {
  Experiment before;
  Config stored = BindExperiment(before);
  stored.ApplyFile(dir.config());
  // The same keys of both, those that this run's method reads.
  const auto now = ResultKeys(resolved.config, *resolved.experiment),
             then = ResultKeys(stored, *resolved.experiment);
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] != then[i]) {
      return fmt::format(
          "{} was started with {}, now it is {}; resume with the original settings, or choose "
          "another --out",
          Printable(dir.path().string()), then[i], now[i]);
    }
  }
  return std::nullopt;
}

void CheckGoesOn(const RunDir& dir, const Resolved& resolved) {
  if (const auto other = OtherConfiguration(dir, resolved)) throw UsageError("{}", *other);
}

bool HasTrainedModel(const RunDir& dir, int rounds) {
  try {
    const auto state = LoadServerState(dir.checkpoints());
    return state && state->next_round >= rounds;
  } catch (const Error&) {
    return false;
  }
}

Json TrainRun(const Resolved& resolved, const RunDir& dir, const std::atomic<bool>& stop,
              Ranks* ranks) {
  Simulation simulation(*resolved.experiment, ConfigHash(resolved.config, *resolved.experiment),
                        dir, ranks);
  if (!FileExists(dir.config()) || !FileExists(dir.config_json())) {  // or killed between the two
    dir.Create(TextsOf(resolved.config));
  }
  const FolderLock lock(dir.path());
  const LogFile log(dir.log());
  simulation.Start();
  simulation.Train(stop);
  const Json summary = simulation.Summary();
  WriteFileAtomically(dir.summary(), summary.dump(2) + "\n");
  if (ranks) ranks->Meet();
  return summary;
}

}  // namespace kindred
