#include "report/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <functional>

#include "base/base64.h"
#include "base/config.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "privacy/mechanism_kinds.h"
#include "record/audit_log.h"
#include "record/metrics.h"

namespace kindred {
namespace {

constexpr uint64_t kMostPart = 64 << 20;  // bytes of a file that is read whole
constexpr size_t kMostEvents = 2000;      // of an audit, the newest
constexpr size_t kMostNamed = 2000;       // clients with misses or refusals

Json ReadPart(const std::filesystem::path& path) {
  try {
    if (!FileExists(path)) return nullptr;
    const Bytes bytes = ReadFile(path, kMostPart);
    Json json = ParseJson(bytes);
    return json.is_object() ? json : Json(nullptr);
  } catch (const Error&) {
    return nullptr;
  }
}

// Six digits are what a chart can show.
Json Short(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::abs(value) < 1e15 && value == std::floor(value)) return static_cast<int64_t>(value);
  return std::stod(fmt::format("{:.6g}", value));
}

// The lines of a file that tell of an event, in its first `end` bytes. `damaged` counts the others:
// a crash or a full disk cut them short.
void ForEachEvent(const std::filesystem::path& path, uint64_t end, int* damaged,
                  const std::function<void(Json)>& tell) {
  std::ifstream in(path);
  uint64_t at = 0;
  for (std::string text; std::getline(in, text);) {
    at += text.size() + 1;
    if (at > end) break;
    Json line = ParseJson(text);
    if (line.is_object() && line.value("event", Json()).is_string()) {
      tell(std::move(line));
    } else {
      ++*damaged;
    }
  }
}

// What came besides updates that were taken, which the rounds tell; the newest of it. Null: there
// is no log.
Json Audit(const std::filesystem::path& path, uint64_t end, int* damaged) {
  std::deque<Json> events;
  Json counts = Json::object(), by_client = Json::object();
  const auto tell = [&](Json line) {
    const auto kind = line["event"].get<std::string>();
    const int64_t events_told = EventsTold(line);
    counts[kind] = counts.value(kind, int64_t{0}) + events_told;
    const Json client = line.value("client", Json());
    if ((kind == "miss" || kind == "refuse") && client.is_string() &&
        (by_client.size() < kMostNamed || by_client.contains(client.get<std::string>()))) {
      Json& own = by_client[client.get<std::string>()];
      if (own.is_null()) own = Json::object();
      own[kind] = own.value(kind, int64_t{0}) + events_told;
      const Json reason = line.value("reason", Json());
      if (kind == "refuse" && reason.is_string()) own["reasons"][reason.get<std::string>()] = 1;
    }
    if (kind == "accept") return;
    events.push_back(std::move(line));
    if (events.size() > kMostEvents) events.pop_front();
  };
  const auto files = AuditFiles(path);
  if (files.empty()) return nullptr;
  for (const auto& each : files) {
    ForEachEvent(each, each == path ? end : uint64_t(-1), damaged, tell);
  }
  return {{"counts", counts}, {"by_client", by_client}, {"events", events}};
}

// Pipes and the like are not read: they may never end.
bool IsFile(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none);
}

// The run's configuration without paths; null: it cannot be read.
Json ConfigOf(const RunDir& dir) {
  constexpr uint64_t kMost = 1 << 20;
  const auto parsed = [](const std::string& text) {
    Json config = ParseJson(text);
    return config.is_object() ? config : Json(nullptr);
  };
  const auto text_in = [](const std::filesystem::path& path) {
    const Bytes bytes = ReadFile(path, kMost);
    return std::string(bytes.begin(), bytes.end());
  };
  try {
    Json config;
    if (IsFile(dir.config_json())) {
      config = parsed(text_in(dir.config_json()));
    } else if (IsFile(dir.config())) {  // a run of before there was a config.json
      if (const auto json = TomlToJson(text_in(dir.config()))) config = parsed(*json);
    }
    // Pages are handed on: no path goes with them, whatever the file holds.
    for (const auto& [section, key] : {std::pair("data", "path"), {"fedca", "public_path"}}) {
      if (config.is_object() && config.contains(section) && config[section].is_object() &&
          config[section].contains(key)) {
        config[section][key] = nullptr;
      }
    }
    return config;
  } catch (const Error&) {
    return nullptr;
  }
}

// What is shared of images: by the summary, or while there is none by the configuration. Null: that
// is not known, or no mechanism of this program.
Json PrivacyOf(const Json& summary, const Json& config) {
  const auto part = [](const Json& of, const char* name) {
    return of.is_object() ? of.value(name, Json()) : Json();
  };
  auto options = PrivacyOptionsIn(part(summary, "shared_features"));
  if (!options) options = PrivacyOptionsIn(part(config, "privacy"));
  if (!options) return nullptr;
  return {{"features", options->features}, {"sentence", MechanismOf(*options).sentence(*options)}};
}

// An evaluation without what nobody reads on a page.
Json EvalLine(const Json& line) {
  Json kept = Json::object();
  for (const char* key : {"round", "metric", "protocol", "accuracy", "deviation", "seeds",
                          "dataset", "data_hash", "encoder_digest", "version", "labels"}) {
    if (line.contains(key)) kept[key] = line[key];
  }
  return kept;
}

struct DamagedLines {
  int metrics = 0, audit = 0;
};

// What of the folder could not be read, or contradicts itself.
Json DamageOf(const RunDir& dir, const Json& run, const PageContent& content,
              const DamagedLines& lines) {
  Json damage = Json::array();
  for (const auto& [file, count] : {std::pair("metrics", lines.metrics), {"audit", lines.audit}}) {
    if (count == 0) continue;
    damage.push_back(
        fmt::format("{}.jsonl: {} line{} could not be read", file, count, count == 1 ? "" : "s"));
  }
  if (run["config"].is_null()) damage.push_back("the configuration is missing or damaged");
  const auto unread = [&](const std::filesystem::path& path, const Json& value) {
    std::error_code none;
    if (value.is_null() && std::filesystem::exists(path, none)) {
      damage.push_back(path.filename().string() + " could not be read");
    }
  };
  unread(dir.summary(), run["summary"]);
  unread(dir.audit(), run["audit"]);
  unread(dir.page() / "clients.json", run["clients"]);
  if (content.samples) unread(dir.page() / "samples.json", run["samples"]);
  if (content.embedding) unread(dir.page() / "embedding.json", run["embedding"]);
  const Json& summary = run["summary"];
  const Json& columns = run["metrics"]["columns"];
  // A client of a federation keeps no metrics.
  if (summary.is_object() && summary.value("rounds", Json()).is_number_integer() &&
      summary.value("role", Json()) != "client") {
    const Json last =
        columns.contains("round") && !columns["round"].empty() ? columns["round"].back() : Json(0);
    if (last != summary["rounds"]) {
      damage.push_back(fmt::format(
          "metrics.jsonl ends with round {}, summary.json tells of {}: charts are not whole",
          last.dump(), summary["rounds"].dump()));
    }
  }
  return damage;
}

}  // namespace

std::string ShownName(const std::filesystem::path& folder) {
  const auto path = std::filesystem::absolute(folder).lexically_normal();
  const auto name = path.has_filename() ? path.filename() : path.parent_path().filename();
  return Printable(name.string());
}

Json RoundColumns(const std::vector<Json>& lines) {
  Json columns = Json::object();
  size_t clients = 0, rows = 0;
  constexpr int64_t kMostClients = 1 << 20;
  const auto is_place = [](const Json& value) {
    return value.is_number_integer() && value.get<int64_t>() >= 0 &&
           value.get<int64_t>() < kMostClients;
  };
  for (const auto& line : lines) {
    for (const auto& [name, value] : line.items()) {
      if (!value.is_number()) continue;
      Json& column = columns[name];
      if (column.is_null()) column = Json::array();
      while (column.size() < rows) column.push_back(nullptr);
      column.push_back(Short(value.get<double>()));
    }
    if (line.contains("who") && line["who"].is_array()) {
      for (const auto& place : line["who"]) {
        if (is_place(place)) clients = std::max(clients, place.get<size_t>() + 1);
      }
    }
    ++rows;
  }
  for (auto& [name, column] : columns.items()) {
    while (column.size() < rows) column.push_back(nullptr);
  }
  const size_t stride = (clients + 7) / 8;
  Bytes bits(stride * rows, 0);
  for (size_t row = 0; row < rows; ++row) {
    if (!lines[row].contains("who") || !lines[row]["who"].is_array()) continue;
    for (const auto& place : lines[row]["who"]) {
      if (!is_place(place)) continue;
      const auto client = place.get<size_t>();
      bits[row * stride + client / 8] |= static_cast<uint8_t>(1 << (client % 8));
    }
  }
  return {{"rounds", rows}, {"columns", columns}, {"clients", clients}, {"who", Base64(bits)}};
}

Json RunData(const RunDir& dir, const PageContent& content) {
  std::vector<Json> rounds;
  Json knn = {{"round", Json::array()}, {"knn", Json::array()}}, evals = Json::array();
  DamagedLines damaged;
  for (auto& line : ReadMetrics(dir.metrics(), &damaged.metrics)) {
    const Json kind = line.value("kind", Json());
    if (kind == "round") {
      rounds.push_back(std::move(line));
    } else if (kind == "knn" && line.value("knn", Json()).is_number()) {
      const Json round = line.value("round", Json());
      if (!round.is_number_integer()) continue;
      knn["round"].push_back(round);
      knn["knn"].push_back(Short(line["knn"].get<double>()));
    } else if (kind == "eval" && line.value("accuracy", Json()).is_number()) {
      const Json one = EvalLine(line);
      if (std::find(evals.begin(), evals.end(), one) == evals.end()) evals.push_back(one);
    }
  }
  Json run = {
      {"name", ShownName(dir.path())},
      {"config", ConfigOf(dir)},
      {"summary", ReadPart(dir.summary())},
      {"metrics", RoundColumns(rounds)},
      {"knn", knn},
      {"evals", evals},
      {"audit", Audit(dir.audit(), content.audit_end, &damaged.audit)},
      {"clients", ReadPart(dir.page() / "clients.json")},
      {"samples", content.samples ? ReadPart(dir.page() / "samples.json") : Json(nullptr)},
      {"embedding", content.embedding ? ReadPart(dir.page() / "embedding.json") : Json(nullptr)}};
  run["privacy"] = PrivacyOf(run["summary"], run["config"]);
  if (content.damage) run["damage"] = DamageOf(dir, run, content, damaged);
  return run;
}

}  // namespace kindred
