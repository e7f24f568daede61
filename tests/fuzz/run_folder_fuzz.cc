// A run's folder as the page, /metrics and TensorBoard's file read it. Whatever is in it, the
// page's data are one JSON value without markup and without paths.
//
// Input: the files' contents, separated by a line "%%"; an empty one is no file.
#include <array>

#include "record/metrics.h"
#include "record/tensorboard.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/prometheus.h"
#include "tests/fuzz/target.h"

namespace kindred {
namespace {

constexpr std::array kFiles = {"config.json",       "config.toml",        "summary.json",
                               "metrics.jsonl",     "audit.jsonl",        "page/clients.json",
                               "page/samples.json", "page/embedding.json"};

void WriteFolder(std::string_view input) {
  MakeFolder(FuzzFolder() / "page");
  for (const char* name : kFiles) {
    const std::string_view content = TakePart(input, "\n%%\n");
    std::error_code none;
    if (content.empty()) {
      std::filesystem::remove(FuzzFolder() / name, none);
    } else {
      WriteFuzzFile(name, content);
    }
  }
}

void CheckData(const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  const Json read = Json::parse(text, nullptr, false);
  Require(read.is_object(), "the page's data are no JSON object");
  const Json config = read.value("config", Json());
  if (!config.is_object() || !config.value("data", Json()).is_object()) return;
  Require(config["data"].value("path", Json()).is_null(), "a path in the page");
}

void CheckPage(const Json& data) {
  static const size_t kAround = FrozenPage(nullptr).size() - 4;
  static const size_t kStart = LivePage().find("id=\"kindred-data\">") + 18;
  const std::string page = FrozenPage(data);
  const std::string_view inside = std::string_view(page).substr(kStart, page.size() - kAround);
  Require(inside.find_first_of("<>&\n") == std::string_view::npos, "markup in the page's data");
}

void CheckGauges(const RunDir& dir) {
  RunGauges gauges;
  const auto metrics = ReadMetrics(dir.metrics());
  for (const auto& line : metrics) gauges.AddMetrics(line);
  for (const auto& line : ReadMetrics(dir.audit())) gauges.AddAudit(line);
  const std::string text = gauges.ToText();
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = TakePart(rest, "\n");
    Require(line.starts_with("# ") || line.starts_with("kindred_"), "a line that is no gauge");
  }
  SerializeEvents(ToEvents(metrics));
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  WriteFolder(AsText(input));
  const RunDir dir(FuzzFolder());
  const Json data = RunData(dir, {.damage = true});
  CheckData(data);
  if (input.size() % 16 == 0) CheckPage(data);  // the page is large and takes its time
  CheckGauges(dir);
}

}  // namespace kindred
