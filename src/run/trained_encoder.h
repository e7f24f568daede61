// The encoder that a run, a checkpoint or an exported file holds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"
#include "model/encoder.h"
#include "record/run_dir.h"

namespace kindred {

struct TrainedEncoder {
  Encoder encoder;
  Json origin;                // method, data, rounds, seed, digests: what a result is stored with
  std::string path;           // as it was given
  std::optional<RunDir> run;  // it belongs to
};

// path: a run's folder, one of its checkpoints, what `kindred export` made or the safetensors file
// in it. round: of a run, 0 being its random start; not given: the newest kept. Throws a data error
// that says what is there instead.
TrainedEncoder OpenTrainedEncoder(const std::string& path, std::optional<int> round = std::nullopt);

// The folder of the run that `path` is or belongs to.
std::optional<std::filesystem::path> RunOf(const std::string& path);

}  // namespace kindred
