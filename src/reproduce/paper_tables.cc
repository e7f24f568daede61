#include "reproduce/paper_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/embedded.h"
#include "base/error.h"

namespace kindred {
namespace {

constexpr const char* kScales[] = {"full", "small", "long", "mid", "lab", "tiny"};
constexpr const char* kDatasets[] = {"cifar10", "fashion-mnist", "cifar100"};
constexpr const char* kAblationDatasets[] = {"cifar10", "fashion-mnist"};
// The most telling first: who stops early has these.
constexpr const char* kSettings[] = {"noniid1", "iid", "noniid2"};
constexpr const char* kAblationSettings[] = {"noniid1"};

using Look = std::pair<const char*, const char*>;
constexpr Look kLinearLooks[] = {{"linear", "1"}};
constexpr Look kSemiLooks[] = {{"semi", "0.1"}, {"semi", "0.01"}};
constexpr Look kFinetuneLooks[] = {{"finetune", "0.1"}, {"finetune", "0.01"}};
constexpr Look kAblationLooks[] = {{"linear", "1"}, {"semi", "0.01"}};

const RowKind kRotation = {{"rotation", "FedRot"}, "configs/methods/rotation.toml"};
const RowKind kDeepCluster = {{"deepcluster", "FedDC"}, "configs/methods/deepcluster.toml"};
const RowKind kSwav = {{"swav", "FedSwAV"}, "configs/methods/swav.toml"};
const RowKind kSimclr = {{"simclr", "FedSimCLR"}, "configs/methods/simclr.toml"};
const RowKind kFedca = {{"fedca", "FedCA", RowRole::kMethod, "reimplemented from its description"},
                        "configs/methods/fedca.toml"};
const RowKind kCcl = {{.name = "ccl",
                       .title = "CCL (proposed)",
                       .note = "with our setting for protected features: union of negatives, "
                               "remote ones weighed as one bank, magnitudes of encodings, batch "
                               "statistics",
                       .yardstick = true},
                      "configs/methods/ccl.toml"};
const RowKind kCl = {{"cl", "CL", RowRole::kPeer, "momentum contrast on each client, averaged"},
                     "configs/methods/moco.toml"};
const RowKind kByol = {{"byol", "FedBYOL", RowRole::kPeer, "not in the paper"},
                       "configs/methods/byol.toml"};
const RowKind kFedema = {{"fedema", "FedEMA", RowRole::kPeer, "not in the paper"},
                         "configs/methods/fedema.toml"};
const RowKind kSimsiam = {{"simsiam", "FedSimSiam", RowRole::kPeer, "not in the paper"},
                          "configs/methods/simsiam.toml"};
const RowKind kRandom = {{"random", "Random encoder", RowRole::kReference,
                          "the first weights, not trained; not in the paper"},
                         "configs/methods/ccl.toml",
                         RowEncoder::kRandom};
const RowKind kMoco = {{"moco", "MoCo (Centralized)", RowRole::kReference,
                        "one client with all images; the same in each setting"},
                       "configs/methods/moco.toml",
                       RowEncoder::kCentralized};
const RowKind kSupervised = {{"supervised", "FedAvg (Supervised)", RowRole::kReference,
                              "trained with every label; a linear classifier on its encoder"},
                             "configs/methods/supervised.toml"};
const RowKind kScratch = {{"supervised", "FedAvg (Supervised)", RowRole::kReference,
                           "the same labels from random weights"},
                          "configs/methods/supervised.toml",
                          RowEncoder::kRandom,
                          true};

const RowKind kLinearRows[] = {kRotation, kDeepCluster, kSwav,    kSimclr, kFedca, kCcl,       kCl,
                               kByol,     kFedema,      kSimsiam, kRandom, kMoco,  kSupervised};
const RowKind kSemiRows[] = {kRotation, kDeepCluster, kSwav,   kSimclr,  kFedca,  kCcl,
                             kCl,       kByol,        kFedema, kSimsiam, kRandom, kMoco};
const RowKind kFinetuneRows[] = {kRotation, kDeepCluster, kSwav,   kSimclr,  kFedca,  kCcl,
                                 kCl,       kByol,        kFedema, kSimsiam, kScratch};

constexpr const char* kPapers =
    "as the paper has it: remote negatives, signed encodings, running statistics";
const RowKind kAblationRows[] = {
    {{.name = "cl", .title = "CL", .yardstick = true}, "configs/methods/moco.toml"},
    {{"cl_ff", "CL+FF"}, "configs/ablation/cl_ff.toml"},
    {{"cl_ff_nm", "CL+FF+NM"}, "configs/methods/ccl.toml"},
    {{"paper_ff", "CL+FF, the paper's features", RowRole::kMethod, kPapers, "cl_ff"},
     "configs/ablation/paper_ff.toml"},
    {{"paper_ff_nm", "CL+FF+NM, the paper's features", RowRole::kMethod, kPapers, "cl_ff_nm"},
     "configs/ablation/paper_ff_nm.toml"},
};

const TableKind kTables[] = {
    {"linear", "Linear evaluation (the paper's Table 1 and Figure 3)", kLinearRows, kDatasets,
     kSettings, kLinearLooks},
    {"semi", "Semi-supervised learning (Table 2)", kSemiRows, kDatasets, kSettings, kSemiLooks},
    {"finetune", "Collaborative finetuning (Table 3)", kFinetuneRows, kDatasets, kSettings,
     kFinetuneLooks},
    {"ablation", "Ablation: feature fusion and neighborhood matching (Figure 4)", kAblationRows,
     kAblationDatasets, kAblationSettings, kAblationLooks},
};

// What makes a cell the cell it is.
constexpr const char* kOwnKeys[] = {"data.name",    "partition.scheme", "partition.clients",
                                    "method.name",  "train.seed",       "eval.labels",
                                    "eval.scratch", "eval.seed",        "eval.seeds"};

// FedCA's public images are of another dataset, of the same channels.
const char* PublicDataBeside(const std::string& dataset) {
  static const std::map<std::string, const char*> kBeside = {{"cifar10", "cifar100"},
                                                             {"cifar100", "cifar10"},
                                                             {"fashion-mnist", "mnist"},
                                                             {"mnist", "fashion-mnist"}};
  const auto at = kBeside.find(dataset);
  return at == kBeside.end() ? nullptr : at->second;
}

// Those of `known` that were asked for, in their own order; all when nothing was.
std::vector<std::string> ChosenOf(const char* what, const std::vector<std::string>& asked,
                                  std::vector<std::string> known) {
  for (const auto& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = Nearest(name, known);
    throw UsageError("{}: no such {}; {}there are {}", Printable(name), what,
                     nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                     fmt::join(known, ", "));
  }
  if (asked.empty()) return known;
  std::erase_if(known, [&](const std::string& name) {
    return std::find(asked.begin(), asked.end(), name) == asked.end();
  });
  return known;
}

std::vector<std::string> Names(std::span<const char* const> names) {
  return {names.begin(), names.end()};
}

// All rows of all tables, for --methods.
std::vector<std::string> RowNames(const std::vector<std::string>& tables) {
  std::vector<std::string> names;
  for (const auto& table : TableKinds()) {
    if (std::find(tables.begin(), tables.end(), table.name) == tables.end()) continue;
    for (const auto& kind : table.rows) {
      if (std::find(names.begin(), names.end(), kind.row.name) == names.end()) {
        names.push_back(kind.row.name);
      }
    }
  }
  return names;
}

}  // namespace

std::span<const TableKind> TableKinds() { return kTables; }
std::span<const char* const> ScaleNames() { return kScales; }

std::vector<ChosenTable> ChooseTables(const TableChoice& choice) {
  std::vector<ChosenTable> chosen;
  ChosenOf("scale", {choice.scale}, Names(ScaleNames()));
  std::vector<std::string> all, datasets, settings;
  for (const auto& table : TableKinds()) all.push_back(table.name);
  const auto tables = ChosenOf("table", choice.tables, all);
  for (const auto& kind : DatasetKinds()) datasets.push_back(kind.name);
  for (const auto& scheme : PartitionSchemes()) settings.push_back(scheme.name);
  ChosenOf("dataset", choice.datasets, datasets);
  ChosenOf("setting", choice.settings, settings);
  const auto methods = ChosenOf("method", choice.methods, RowNames(tables));
  for (const auto& kind : TableKinds()) {
    if (std::find(tables.begin(), tables.end(), kind.name) == tables.end()) continue;
    std::vector<TableRow> rows;
    std::vector<const RowKind*> kinds;
    for (const auto& row : kind.rows) {
      if (std::find(methods.begin(), methods.end(), row.row.name) == methods.end()) continue;
      rows.push_back(row.row);
      kinds.push_back(&row);
    }
    if (rows.empty()) continue;
    std::vector<TableColumn> columns;
    const auto own = choice.datasets.empty() ? Names(kind.datasets) : choice.datasets;
    const auto schemes = choice.settings.empty() ? Names(kind.settings) : choice.settings;
    for (const auto& dataset : own) {
      for (const auto& setting : schemes) {
        for (const auto& [metric, labels] : kind.looks) {
          columns.push_back({dataset, setting, metric, labels});
        }
      }
    }
    chosen.push_back(
        {EmptyTable(kind.name, kind.title, choice.scale, std::move(rows), std::move(columns)),
         std::move(kinds)});
  }
  return chosen;
}

Resolved RunConfig(const RowKind& row, const TableChoice& choice, const std::string& dataset,
                   const std::string& setting, uint64_t seed) {
  Resolved resolved;
  resolved.config = BindExperiment(*resolved.experiment);
  Config& config = resolved.config;
  const std::string scale = "configs/" + choice.scale + ".toml";
  config.ApplyText(EmbeddedFile(scale), scale);
  config.ApplyText(EmbeddedFile(row.preset), row.preset);
  const std::string tuned =
      fmt::format("configs/{}/{}.toml", choice.scale, resolved.experiment->method.name);
  if (const auto text = FindEmbeddedFile(tuned)) config.ApplyText(*text, tuned);
  const std::string by = "kindred reproduce";
  config.Apply("data.name", dataset, by);
  config.Apply("partition.scheme", setting, by);
  config.Apply("partition.clients", row.encoder == RowEncoder::kCentralized ? "1" : "0", by);
  if (row.encoder == RowEncoder::kCentralized) config.Apply("partition.scheme", "iid", by);
  config.Apply("train.seed", std::to_string(seed), by);
  if (const char* beside = PublicDataBeside(dataset)) {
    config.Apply("fedca.public_data", beside, by);
  }
  for (const auto& assignment : choice.assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (std::find(std::begin(kOwnKeys), std::end(kOwnKeys), key) != std::end(kOwnKeys)) {
      throw UsageError(
          "--set {}: the tables' own; choose with --datasets, --settings, --methods "
          "and --seeds",
          Printable(assignment));
    }
    config.ApplyAssignment(assignment);
  }
  Validate(resolved.experiment->data);
  Validate(resolved.experiment->views);
  return resolved;
}

}  // namespace kindred
