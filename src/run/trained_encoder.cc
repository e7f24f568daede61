#include "run/trained_encoder.h"

#include <regex>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "export/encoder_file.h"
#include "run/run_record.h"
#include "run/setup.h"
#include "server/checkpoint.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEncoderFile = "encoder.safetensors";

TrainedEncoder FromFile(const std::string& path, const fs::path& file) {
  EncoderFile content = ReadEncoderFile(file);
  return {std::move(content.encoder), std::move(content.origin), path, std::nullopt};
}

// The round after which a checkpoint's file was written, by its name; nullopt when it is no
// checkpoint's name.
std::optional<int> RoundOfFile(const fs::path& file) {
  static const std::regex kName("round-([0-9]{1,9})\\.safetensors");
  std::smatch match;
  const std::string name = file.filename().string();
  if (!std::regex_match(name, match, kName)) return std::nullopt;
  return std::stoi(match[1]);
}

// What the run's configuration and its checkpoint say about where the encoder comes from.
Json OriginOf(const RunDir& dir, const Experiment& experiment, const Method& method,
              const RunState& state) {
  const RunIdentity identity = RunIdentity::FromText(state.identity);
  const bool simulated =
      identity.Simulated() || (state.identity.empty() && !FileExists(dir.path() / "run"));
  Json origin = {{"method", experiment.method.name},
                 {"dataset", experiment.data.name},
                 {"scheme", simulated ? experiment.partition.scheme : kFederationPartition},
                 {"rounds", experiment.train.rounds},
                 {"round", state.next_round},
                 {"epochs", experiment.train.epochs},
                 {"seed", experiment.train.seed},
                 {"simulated", simulated}};
  if (method.FeaturesToShare() > 0) {
    origin["shared_features"] = ToJson(experiment.privacy);
  }
  if (const auto note = NoteOf(experiment.method); !note.empty()) origin["method_note"] = note;
  if (FileExists(dir.summary())) {
    const Bytes bytes = ReadFile(dir.summary(), 1 << 20);
    const Json summary = ParseJson(bytes);
    // A client's summary knows of itself alone.
    if (summary.is_object() && summary.value("clients", Json()).is_number_integer() &&
        summary.value("role", Json()) != "client") {
      origin["clients"] = summary["clients"];
    }
  }
  if (!identity.config.empty()) origin["config_hash"] = identity.config;
  if (identity.Simulated()) {
    origin["train_data_hash"] = identity.data;
    origin["train_partition_hash"] = identity.partition;
  } else if (!simulated) {
    origin["run"] = identity.data;
  }
  return origin;
}

TrainedEncoder FromRun(const std::string& path, const fs::path& folder, std::optional<int> round) {
  const RunDir dir(folder);
  Experiment experiment;
  Config config = BindExperiment(experiment);
  config.ApplyFile(dir.config());
  // A head comes after the encoder, how many classes it has changes nothing.
  const auto method = MakeMethod(
      ContextOf(experiment, {.channels = experiment.data.channels, .side = 32, .classes = 2}));
  std::optional<RunState> state;
  if (round == 0) {
    state.emplace();
    state->server.global = Clone(method->Shared());
    if (const auto newest = LoadServerState(dir.checkpoints())) {
      state->input = newest->input;
      state->identity = newest->identity;
    }
  } else {
    state = LoadServerState(dir.checkpoints(), round);
  }
  if (!state && round) {
    throw DataError(
        "{}: no checkpoint of round {} is kept there; the newest two are, and 0 is the "
        "random start",
        Printable(path), *round);
  }
  if (!state) {
    throw DataError("{}: the run has no checkpoint; train it with kindred train --resume",
                    Printable(path));
  }
  if (!round && state->next_round < experiment.train.rounds) {
    spdlog::warn("{}: the run has done {} of its {} rounds", Printable(path), state->next_round,
                 experiment.train.rounds);
  }
  const EncoderInput input = state->input.empty() ? InputOf(LoadDataset(experiment.data))
                                                  : EncoderInput::FromText(state->input, path);
  TrainedEncoder trained = {
      EncoderOf(Under(state->server.global, method->EncoderPrefix()), input, path),
      OriginOf(dir, experiment, *method, *state), path, dir};
  const ModelOptions& found = trained.encoder.model;
  if (found.arch != experiment.model.arch || found.width != experiment.model.width) {
    throw DataError(
        "{}: the checkpoint holds a {} of width {}, the configuration says {} of width {}",
        Printable(path), found.arch, found.width, experiment.model.arch, experiment.model.width);
  }
  return trained;
}

}  // namespace

std::optional<fs::path> RunOf(const std::string& path) {
  if (IsFolder(path)) {
    return FileExists(fs::path(path) / "config.toml") ? std::optional<fs::path>(path)
                                                      : std::nullopt;
  }
  const fs::path run = fs::absolute(path).parent_path().parent_path();
  return RoundOfFile(path) && FileExists(run / "config.toml") ? std::optional(run) : std::nullopt;
}

TrainedEncoder OpenTrainedEncoder(const std::string& path, std::optional<int> round) {
  if (!FileExists(path)) {
    throw DataError(
        "{}: nothing is there; give a run's folder, a checkpoint or an exported encoder",
        Printable(path));
  }
  TrainedEncoder trained;
  if (const auto run = RunOf(path)) {
    if (!IsFolder(path) && round && round != RoundOfFile(path)) {
      throw UsageError("{} and --round {} are two rounds; give one", Printable(path), *round);
    }
    trained = FromRun(path, *run, IsFolder(path) ? round : RoundOfFile(path));
  } else {
    const bool folder = IsFolder(path);
    if (folder && !FileExists(fs::path(path) / kEncoderFile)) {
      throw DataError("{}: neither a run (config.toml) nor an exported encoder ({}) is there",
                      Printable(path), kEncoderFile);
    }
    if (round)
      throw UsageError("--round goes with a run; {} is an exported encoder", Printable(path));
    trained = FromFile(path, folder ? fs::path(path) / kEncoderFile : fs::path(path));
  }
  trained.origin["encoder_digest"] = DigestOf(trained.encoder.tensors);
  return trained;
}

}  // namespace kindred
