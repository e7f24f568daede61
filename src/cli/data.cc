#include <fmt/ranges.h>

#include "base/table.h"
#include "cli/command.h"
#include "fetch/sources.h"

namespace kindred {
namespace {

CommandResult ListData() {
  CommandResult result;
  std::vector<std::vector<std::string>> rows = {{"dataset", "here", "can be fetched from"}};
  for (const auto& entry : PublishedDatasets()) {
    DataOptions options;
    options.name = entry.dataset;
    const auto folder = DataPath(options);
    const bool here = IsHere(entry, folder);
    const auto sources = SourceNames(entry);
    rows.push_back({entry.dataset, here ? folder.string() : "no",
                    fmt::format("{}", fmt::join(sources, ", "))});
    result.json["datasets"].push_back(
        {{"name", entry.dataset}, {"path", folder.string()}, {"here", here}, {"from", sources}});
  }
  result.text = TextTable(rows);
  return result;
}

}  // namespace

void AddDataCommand(CLI::App& app, Program& program) {
  CLI::App* data = app.add_subcommand("data", "Datasets: list, get, inspect, partition, preview");
  data->require_subcommand(1);
  AddCommand(*data, program, "list", "Datasets that can be fetched, and which are here", ListData);
  AddDataGet(*data, program);
  AddDataInspect(*data, program);
  AddDataPartition(*data, program);
  AddDataPreview(*data, program);
}

}  // namespace kindred
