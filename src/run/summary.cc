#include "run/summary.h"

#include <fmt/format.h>

#include "base/progress.h"
#include "base/table.h"

namespace kindred {

namespace {

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{:.1f} s", seconds);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

bool IsSummary(const nlohmann::ordered_json& summary) {
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

std::string SummaryText(const nlohmann::ordered_json& summary, const RunDir& dir) {
  std::vector<std::vector<std::string>> rows = {
      {"run",
       fmt::format("{} on {}, {}, {} clients, {} rounds", summary["method"].get<std::string>(),
                   summary["dataset"].get<std::string>(), summary["scheme"].get<std::string>(),
                   summary["clients"].get<int>(), summary["rounds"].get<int>())},
      {"time", fmt::format("{}, {:.0f} images/s", Duration(summary["seconds"]),
                           summary["images_per_second"].get<double>())}};
  if (summary.contains("knn_first") && summary.contains("knn_last")) {
    rows.push_back({"kNN", fmt::format("{:.2f} % at the random start, {:.2f} % trained",
                                       100 * summary["knn_first"].get<double>(),
                                       100 * summary["knn_last"].get<double>())});
  }
  rows.push_back(
      {"traffic", fmt::format("{} down, {} up, if it went over a network",
                              HumanBytes(summary["bytes_down"]), HumanBytes(summary["bytes_up"]))});
  rows.push_back({"model", summary["model_digest"].get<std::string>()});
  rows.push_back(
      {"files", fmt::format("{0}/ metrics.jsonl, summary.json, checkpoints/, tensorboard/",
                            dir.path().string())});
  return TextTable(rows);
}

}  // namespace kindred
