#include "method/method_kinds.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "method/byol_options.h"
#include "method/ccl_options.h"
#include "method/deepcluster_options.h"
#include "method/fedca_options.h"
#include "method/fedema_options.h"
#include "method/simclr_options.h"
#include "method/swav_options.h"

namespace kindred {
namespace {

// Binds a method's own table of options.
template <class Options>
void BindTable(Config& config, MethodOptions& options) {
  Bind(config, options.Of<Options>());
}

std::string FedcaNote(const MethodOptions& options) { return NoteOf(options.Of<FedcaOptions>()); }

// The table: help texts, `kindred list` and the tests go through it.
constexpr MethodKind kKinds[] = {
    {"ccl",
     "Wu et al., IJCAI 2022",
     "contrast with others' features, and neighborhood matching",
     {"ccl"},
     BindTable<CclOptions>,
     nullptr,
     {"contrast", "neighborhood", "lambda", "remote_cosine", "neighbors_remote"}},
    {"moco",
     "He et al., CVPR 2020",
     "momentum contrast with one's own keys; with one client: centralized",
     {"ccl"},
     nullptr,
     nullptr,
     {"contrast", "lambda"}},
    {"simclr",
     "Chen et al., ICML 2020",
     "FedSimCLR: contrast inside the batch",
     {"simclr"},
     BindTable<SimclrOptions>},
    {"rotation",
     "Gidaris et al., ICLR 2018",
     "FedRot: how was the image turned",
     {},
     nullptr,
     nullptr,
     {"rotation_accuracy", "loss_over_chance"}},
    {"byol",
     "Grill et al., NeurIPS 2020",
     "FedBYOL: predict a slow copy of oneself",
     {"byol"},
     BindTable<ByolOptions>},
    {"fedema",
     "Zhuang et al., ICLR 2022",
     "FedEMA: BYOL; clients keep part of their own model",
     {"fedema", "byol"},
     BindTable<FedemaOptions>,
     nullptr,
     {"own_share", "divergence"}},
    {"swav",
     "Caron et al., NeurIPS 2020",
     "FedSwAV: predict the other view's prototypes",
     {"swav"},
     BindTable<SwavOptions>,
     nullptr,
     {"loss_over_chance", "prototypes_used"}},
    {"deepcluster",
     "Caron et al., NeurIPS 2020",
     "FedDC: predict clusters of one's own embeddings (DeepCluster-v2)",
     {"deepcluster"},
     BindTable<DeepClusterOptions>,
     nullptr,
     {"loss_over_chance", "empty_clusters"}},
    {"fedca",
     "Zhang et al., arXiv 2020",
     "FedCA: SimCLR, others' features as negatives, a public base model (reimplemented)",
     {"fedca"},
     BindTable<FedcaOptions>,
     FedcaNote,
     {"contrast", "alignment"}},
    {"simsiam", "Chen and He, CVPR 2021", "FedSimSiam: predict one's other view"},
    {"supervised", "McMahan et al., AISTATS 2017", "FedAvg with every label, an upper bound"},
};

const MethodKind& KindOf(const std::string& method) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const MethodKind& each) { return each.name == method; });
  Check(kind != std::end(kKinds), "no such method: " + method);
  return *kind;
}

bool Reads(const MethodKind& kind, std::string_view table) {
  return std::any_of(kind.tables.begin(), kind.tables.end(),
                     [&](const char* each) { return each != nullptr && each == table; });
}

}  // namespace

std::span<const MethodKind> MethodKinds() { return kKinds; }

std::string NoteOf(const MethodOptions& options) {
  const MethodKind& kind = KindOf(options.name);
  return kind.note != nullptr ? kind.note(options) : std::string();
}

std::set<std::string> MetricNamesOf(const std::string& method) {
  std::set<std::string> names = {
      "feature_cosine", "feature_std", "feature_rank", "shared_cosine", "shared_rank",
      // by an observer, in a simulation
      "false_negatives", "false_negatives_predicted", "neighbors_same_class"};
  for (const char* name : KindOf(method).metrics) {
    if (name != nullptr) names.insert(name);
  }
  return names;
}

std::vector<std::string> TablesOfOthers(const std::string& method) {
  const MethodKind& own = KindOf(method);
  std::vector<std::string> tables;
  for (const MethodKind& kind : kKinds) {
    for (const char* table : kind.tables) {
      if (table != nullptr && !Reads(own, table)) tables.emplace_back(table);
    }
  }
  return tables;
}

void Bind(Config& config, MethodOptions& options) {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  config.BindForClients("method.name", &options.name,
                        "how clients learn; `kindred list methods` names the methods",
                        {.choices = names});
  for (const auto& kind : kKinds) {
    if (kind.bind != nullptr) kind.bind(config, options);
  }
}

}  // namespace kindred
