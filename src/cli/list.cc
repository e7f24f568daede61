#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "method/method.h"

namespace kindred {
namespace {

// A list of the table's entries: name and one line each.
struct Listing {
  const char* name;
  std::vector<std::pair<std::string, std::string>> (*entries)();
};

const Listing kListings[] = {
    {"datasets",
     [] {
       std::vector<std::pair<std::string, std::string>> entries;
       for (const auto& kind : DatasetKinds()) entries.emplace_back(kind.name, kind.summary);
       return entries;
     }},
    {"methods",
     [] {
       std::vector<std::pair<std::string, std::string>> entries;
       for (const auto& kind : MethodKinds()) entries.emplace_back(kind.name, kind.summary);
       return entries;
     }},
    {"partitions",
     [] {
       std::vector<std::pair<std::string, std::string>> entries;
       for (const auto& scheme : PartitionSchemes())
         entries.emplace_back(scheme.name, scheme.summary);
       return entries;
     }},
};

CommandResult List(const std::string& what) {
  CommandResult result;
  for (const auto& listing : kListings) {
    if (!what.empty() && what != listing.name) continue;
    std::vector<std::vector<std::string>> rows = {{listing.name, ""}};
    for (const auto& [name, summary] : listing.entries()) {
      rows.push_back({"  " + name, summary});
      result.json[listing.name].push_back({{"name", name}, {"summary", summary}});
    }
    result.text += (result.text.empty() ? "" : "\n") + TextTable(rows);
  }
  if (result.text.empty()) {
    std::vector<std::string> names;
    for (const auto& listing : kListings) names.emplace_back(listing.name);
    const std::string nearest = Nearest(what, names);
    throw UsageError(
        "list {}: no such list; {}", Printable(what),
        nearest.empty() ? "`kindred list` prints all" : "did you mean " + nearest + "?");
  }
  return result;
}

}  // namespace

void AddListCommand(CLI::App& app, Program& program) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = AddCommand(app, program, "list", "What there is to choose from",
                                 [what] { return List(*what); });
  command->add_option("what", *what, "one of the lists; without it, all");
}

}  // namespace kindred
