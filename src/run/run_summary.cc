#include "run/run_summary.h"

#include "base/embedded.h"
#include "model/library_kernels.h"

namespace kindred {

Json ToJson(const RunSummary& summary) {
  const Experiment& experiment = summary.experiment;
  const Tally& sums = summary.sums;
  const bool simulated = summary.kind == RunKind::kSimulation;
  Json json = {
      {"method", experiment.method.name},
      {"dataset", experiment.data.name},
      {"scheme", simulated ? experiment.partition.scheme : "federation"},
      {"clients", summary.clients},
      {"rounds", experiment.train.rounds},
      {"seed", experiment.train.seed},
      {"participation", experiment.train.participation},
      {"model_digest", DigestOf(summary.model)},
      {"seconds", sums.seconds},
      {"images", sums.images},
      {"images_per_second", sums.seconds > 0 ? static_cast<double>(sums.images) / sums.seconds : 0},
      {"bytes_down", sums.bytes_down},
      {"bytes_up", sums.bytes_up},
      {"engine", experiment.model.engine},
      {"libraries", LibraryKernels()},
      {"version", KINDRED_VERSION},
      {"commit", EmbeddedFile("commit")}};
  if (!simulated) json["role"] = summary.kind == RunKind::kClient ? "client" : "coordinator";
  if (!summary.config_hash.empty()) json["config_hash"] = summary.config_hash;
  if (sums.first_knn) json["knn_first"] = *sums.first_knn;
  if (sums.last_knn) json["knn_last"] = *sums.last_knn;
  if (const auto note = NoteOf(summary.experiment.method); !note.empty()) {
    json["method_note"] = note;
  }
  if (summary.method.FeaturesToShare() > 0) {
    json["shared_features"] = ToJson(experiment.privacy);
  }
  json["diagnostics"] = sums.diagnostics;
  return json;
}

}  // namespace kindred
