// `kindred report`: runs and tables as one HTML page that opens offline.
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/command.h"
#include "report/page.h"
#include "report/page_data.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

struct ReportFlags {
  std::vector<std::string> folders;
  std::string out = "report.html";
  bool without_images = false;
  bool force = false;
};

// As a page shows the folder; of several of one name the later ones get a number.
std::string NameOf(const std::string& folder, std::map<std::string, int>& used) {
  const std::string name = ShownName(folder);
  const int times = ++used[name];
  return times == 1 ? name : fmt::format("{} ({})", name, times);
}

CommandResult Report(const ReportFlags& flags) {
  if (flags.out.empty()) throw UsageError("--out: give the page's file");
  RefuseToOverwrite(flags.out, flags.force);
  std::map<std::string, int> used;
  Json damaged = Json::object();
  Json data = {{"live", false}, {"runs", Json::array()}, {"tables", Json::array()}};
  for (const auto& folder : flags.folders) {
    const fs::path tables = fs::path(folder) / "tables.json";
    if (FileExists(tables)) {
      const Bytes bytes = ReadFile(tables, uint64_t{1} << 28);
      const Json json = ParseJson(bytes);
      if (!json.is_object() || !json.value("tables", Json()).is_array()) {
        throw DataError("{}: not what `kindred reproduce` wrote", Printable(tables.string()));
      }
      const std::string name = NameOf(folder, used);
      for (Json table : json["tables"]) {
        if (table.is_object()) table["folder"] = name;
        data["tables"].push_back(std::move(table));
      }
    } else if (FileExists(fs::path(folder) / "config.toml") ||
               FileExists(fs::path(folder) / "metrics.jsonl")) {
      Json run = RunData(
          RunDir(folder),
          {.samples = !flags.without_images, .embedding = !flags.without_images, .damage = true});
      run["name"] = NameOf(folder, used);
      for (const std::string line : run["damage"]) {
        spdlog::warn("{}: {}", Printable(folder), line);
        damaged[folder].push_back(line);
      }
      data["runs"].push_back(std::move(run));
    } else {
      throw DataError(
          "{}: neither a run (config.toml) nor what `kindred reproduce` leaves (tables.json) is "
          "there",
          Printable(folder));
    }
  }
  const std::string page = FrozenPage(data);
  WriteFileAtomically(flags.out, std::string_view(page));
  return {
      fmt::format("{}: {} run{} and {} table{}, {}; open it in a browser, it needs no network\n",
                  flags.out, data["runs"].size(), data["runs"].size() == 1 ? "" : "s",
                  data["tables"].size(), data["tables"].size() == 1 ? "" : "s",
                  HumanBytes(page.size())),
      {{"page", flags.out},
       {"runs", data["runs"].size()},
       {"tables", data["tables"].size()},
       {"damaged", damaged},
       {"bytes", page.size()}}};
}

}  // namespace

void AddReportCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command =
      AddCommand(app, program, "report", "One HTML page of a run, of several, or of the tables",
                 [flags] { return Report(*flags); });
  command->add_option("folders", flags->folders, "folders of runs, or of `kindred reproduce`")
      ->required();
  command->add_option("--out", flags->out, "the page")->capture_default_str();
  command->add_flag("--without-images", flags->without_images,
                    "leave sample images and features out: a page to hand on");
  command->add_flag("--force", flags->force, "replace a file that is there");
}

}  // namespace kindred
