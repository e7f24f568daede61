#include "aggregate/rule_kinds.h"
#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "method/method_kinds.h"
#include "server/optimizer_kinds.h"

namespace kindred {
namespace {

// An entry of a table: its name, one line, and for some where it comes from.
struct Entry {
  std::string name, summary, reference = {};
};

struct Listing {
  const char* name;
  std::vector<Entry> (*entries)();
};

const Listing kListings[] = {
    {"datasets",
     [] {
       std::vector<Entry> entries;
       for (const auto& kind : DatasetKinds()) entries.push_back({kind.name, kind.summary});
       return entries;
     }},
    {"methods",
     [] {
       std::vector<Entry> entries;
       for (const auto& kind : MethodKinds()) {
         entries.push_back({kind.name, kind.summary, kind.reference});
       }
       return entries;
     }},
    {"optimizers",
     [] {
       std::vector<Entry> entries;
       for (const auto& kind : OptimizerKinds()) {
         entries.push_back({kind.name, kind.summary, kind.reference});
       }
       return entries;
     }},
    {"partitions",
     [] {
       std::vector<Entry> entries;
       for (const auto& scheme : PartitionSchemes())
         entries.push_back({scheme.name, scheme.summary});
       return entries;
     }},
    {"rules",
     [] {
       std::vector<Entry> entries;
       for (const auto& kind : RuleKinds()) {
         entries.push_back({kind.name, kind.summary, kind.reference});
       }
       return entries;
     }},
};

CommandResult List(const std::string& what) {
  CommandResult result;
  for (const auto& listing : kListings) {
    if (!what.empty() && what != listing.name) continue;
    std::vector<std::vector<std::string>> rows = {{listing.name}};
    for (const auto& [name, summary, reference] : listing.entries()) {
      Json entry = {{"name", name}, {"summary", summary}};
      rows.push_back({"  " + name});
      if (!reference.empty()) {
        entry["reference"] = reference;
        rows.back().push_back(reference);
      }
      rows.back().push_back(summary);
      rows.front().resize(rows.back().size());
      result.json[listing.name].push_back(entry);
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
  CLI::App* command =
      AddCommand(app, program, "list", "List datasets, methods, rules and the other choices",
                 [what] { return List(*what); });
  command->add_option("what", *what, "one of the lists; without it, all");
}

}  // namespace kindred
