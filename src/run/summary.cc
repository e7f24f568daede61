#include "run/summary.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/progress.h"
#include "base/table.h"

namespace kindred {

namespace {

// What the last round showed of features, negatives and neighbours.
void AddDiagnostics(const Json& summary, std::vector<std::vector<std::string>>& rows) {
  const auto value = [&](const char* name) -> std::optional<double> {
    if (!summary.contains("diagnostics") || !summary["diagnostics"].is_object()) return {};
    const auto& all = summary["diagnostics"];
    if (!all.contains(name) || !all[name].is_number()) return {};
    return all[name].get<double>();
  };
  if (const auto cosine = value("feature_cosine"), rank = value("feature_rank"); cosine && rank) {
    std::string text = fmt::format("mean cosine {:.2f}, effective rank {:.1f}", *cosine, *rank);
    const auto shared = value("shared_cosine"), shared_rank = value("shared_rank");
    if (shared && shared_rank) {
      text += fmt::format("; shared ones {:.2f}, {:.1f}", *shared, *shared_rank);
    }
    if (const auto remote = value("remote_cosine")) {
      text += fmt::format("; cosine to those of others {:.2f}", *remote);
    }
    rows.push_back({"features", text});
  }
  if (const auto measured = value("false_negatives"), told = value("false_negatives_predicted");
      measured && told) {
    rows.push_back({"negatives", fmt::format("{:.2f} % false, {:.2f} % predicted by the paper",
                                             100 * *measured, 100 * *told)});
  }
  if (const auto remote = value("neighbors_remote")) {
    std::string text = fmt::format("{:.1f} % remote", 100 * *remote);
    if (const auto same = value("neighbors_same_class")) {
      text += fmt::format(", {:.1f} % of the query's class", 100 * *same);
    }
    rows.push_back({"neighbours", text});
  }
}

}  // namespace

bool IsSummary(const Json& summary) {
  if (!summary.is_object()) return false;
  for (const char* key : {"method", "dataset", "scheme", "model_digest"}) {
    if (!summary.contains(key) || !summary[key].is_string()) return false;
  }
  for (const char* key :
       {"clients", "rounds", "seconds", "images_per_second", "bytes_down", "bytes_up"}) {
    if (!summary.contains(key) || !summary[key].is_number()) return false;
  }
  return true;
}

std::optional<Json> FinishedSummary(const RunDir& dir) {
  if (!FileExists(dir.summary())) return std::nullopt;
  const Bytes bytes = ReadFile(dir.summary(), 1 << 20);
  Json summary = ParseJson(bytes);
  if (!IsSummary(summary)) return std::nullopt;
  return summary;
}

std::string SummaryText(const Json& summary, const RunDir& dir) {
  std::vector<std::vector<std::string>> rows = {
      {"run",
       fmt::format("{} on {}, {}, {}, {} rounds", summary["method"].get<std::string>(),
                   summary["dataset"].get<std::string>(), summary["scheme"].get<std::string>(),
                   summary.value("role", "") == "client"
                       ? "one of its clients"
                       : fmt::format("{} clients", summary["clients"].get<int>()),
                   summary["rounds"].get<int>())},
      {"time", fmt::format("{}, {:.0f} images/s", HumanDuration(summary["seconds"]),
                           summary["images_per_second"].get<double>())}};
  if (summary.contains("knn_first") && summary.contains("knn_last")) {
    rows.push_back({"kNN", fmt::format("{:.2f} % at the random start, {:.2f} % trained",
                                       100 * summary["knn_first"].get<double>(),
                                       100 * summary["knn_last"].get<double>())});
  }
  AddDiagnostics(summary, rows);
  const std::string role = summary.contains("role") ? summary["role"].get<std::string>() : "";
  rows.push_back({"traffic", fmt::format("{} down, {} up{}", HumanBytes(summary["bytes_down"]),
                                         HumanBytes(summary["bytes_up"]),
                                         role.empty() ? ", if it went over a network" : "")});
  rows.push_back({"model", summary["model_digest"].get<std::string>()});
  rows.push_back(
      {"files", fmt::format("{}/ {}", dir.path().string(),
                            role == "client"        ? "summary.json, checkpoints/, state/"
                            : role == "coordinator" ? "audit.jsonl, metrics.jsonl, summary.json, "
                                                      "checkpoints/, tensorboard/"
                                                    : "metrics.jsonl, summary.json, checkpoints/, "
                                                      "tensorboard/")});
  return TextTable(rows);
}

}  // namespace kindred
