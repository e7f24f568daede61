#include "partition/partition.h"

#include <algorithm>

#include "base/digest.h"
#include "base/error.h"
#include "base/table.h"
#include "partition/by_class.h"
#include "partition/by_folder.h"
#include "partition/dirichlet.h"
#include "partition/iid.h"

namespace kindred {
namespace {

// The table: help texts, `kindred list` and the tests go through it.
constexpr PartitionScheme kSchemes[] = {
    {"iid", "5 clients, images dealt at random in equal parts", false, DealIid},
    {"noniid1", "5 clients, disjoint classes, a fifth of the classes each", true, DealNonIid1},
    {"noniid2", "10 clients, a fifth of the classes each, every class on two clients", true,
     DealNonIid2},
    {"oneclass", "as many clients as classes, one class each", true, DealOneClass},
    {"dirichlet", "5 clients, each class spread by Dirichlet(alpha)", true, DealDirichlet},
    {"by_folder", "one client per top-level folder", false, DealByFolder},
};

constexpr int kMostColumns = 20;  // a table of more classes is unreadable: it shows the largest

std::string ClassesText(const std::vector<int>& counts, const std::vector<std::string>& names) {
  std::vector<size_t> order;
  for (size_t l = 0; l < counts.size(); ++l) {
    if (counts[l] > 0) order.push_back(l);
  }
  const size_t present = order.size();
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kShown); ++i) {
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", names[order[i]], counts[order[i]]);
  }
  return present > kShown ? text + fmt::format(", {} more", present - kShown) : text;
}

}  // namespace

void Bind(Config& config, PartitionOptions& options) {
  std::vector<std::string> names;
  for (const auto& scheme : kSchemes) names.emplace_back(scheme.name);
  config.Bind("partition.scheme", &options.scheme,
              "who owns which images; `kindred list partitions` names the schemes",
              {.choices = names});
  config.Bind("partition.clients", &options.clients, "number of clients; 0: the scheme's own",
              {.least = 0, .most = 1'000'000});
  config.Bind("partition.classes_per_client", &options.classes_per_client,
              "noniid1, noniid2: classes per client; 0: the scheme's own",
              {.least = 0, .most = 1'000'000});
  config.Bind("partition.alpha", &options.alpha, "dirichlet: the smaller, the more uneven",
              {.least = 1e-3, .most = 1e6});
  config.Bind("partition.seed", &options.seed, "seed of the split alone");
}

std::span<const PartitionScheme> PartitionSchemes() { return kSchemes; }

Partition MakePartition(const Dataset& dataset, const PartitionOptions& options) {
  const auto scheme =
      std::find_if(std::begin(kSchemes), std::end(kSchemes),
                   [&](const PartitionScheme& entry) { return entry.name == options.scheme; });
  if (scheme == std::end(kSchemes)) {
    throw UsageError("partition.scheme = {}: no such scheme", Printable(options.scheme));
  }
  const Split& train = dataset.train;
  if (scheme->needs_labels && train.labels.empty()) {
    throw UsageError("partition.scheme = {} needs labels, and {} has none; take iid or by_folder",
                     scheme->name, dataset.name);
  }
  if (options.clients > train.images.count) {
    throw UsageError("partition.clients = {}: more clients than the {} training images",
                     options.clients, train.images.count);
  }
  Partition partition = scheme->deal({.images = train.images.count,
                                      .labels = train.labels,
                                      .folders = train.folders,
                                      .classes = dataset.Classes(),
                                      .folder_names = dataset.folder_names,
                                      .options = options});
  for (size_t c = partition.names.size(); c < partition.clients.size(); ++c) {
    partition.names.push_back(fmt::format("client {}", c));
  }
  for (size_t c = 0; c < partition.clients.size(); ++c) {
    auto& own = partition.clients[c];
    std::sort(own.begin(), own.end());
    if (own.empty()) {
      throw UsageError("partition: {} would own no image of the {}; take fewer clients",
                       partition.names[c], train.images.count);
    }
  }
  return partition;
}

std::vector<std::vector<int>> ClassCounts(const Partition& partition, const Split& split,
                                          int classes) {
  const auto columns = static_cast<size_t>(split.labels.empty() ? 1 : classes);
  std::vector<std::vector<int>> counts;
  for (const auto& own : partition.clients) {
    auto& row = counts.emplace_back(columns, 0);
    for (const int i : own) {
      ++row[split.labels.empty() ? 0 : static_cast<size_t>(split.labels[static_cast<size_t>(i)])];
    }
  }
  return counts;
}

std::string PartitionTable(const Partition& partition, const Dataset& dataset) {
  const auto counts = ClassCounts(partition, dataset.train, dataset.Classes());
  const bool columns = dataset.Classes() > 0 && dataset.Classes() <= kMostColumns;
  std::vector<std::vector<std::string>> rows = {{"client", "images"}};
  if (columns) {
    rows[0].insert(rows[0].end(), dataset.label_names.begin(), dataset.label_names.end());
  } else if (dataset.Classes() > 0) {
    rows[0].emplace_back("classes");
    rows[0].emplace_back("largest");
  }
  for (size_t c = 0; c < counts.size(); ++c) {
    auto& row = rows.emplace_back();
    row = {partition.names[c], fmt::format("{}", partition.clients[c].size())};
    if (columns) {
      for (const int n : counts[c]) row.push_back(n > 0 ? fmt::format("{}", n) : "");
    } else if (dataset.Classes() > 0) {
      const auto present =
          std::count_if(counts[c].begin(), counts[c].end(), [](int n) { return n > 0; });
      row.push_back(fmt::format("{}", present));
      row.push_back(ClassesText(counts[c], dataset.label_names));
    }
  }
  return TextTable(rows);
}

std::string PartitionHash(const Partition& partition) {
  Digest digest;
  digest.Add(std::string_view("kindred partition 1"));
  for (const auto& own : partition.clients) {
    digest.Add(static_cast<int64_t>(own.size()));
    for (const int i : own) digest.Add(int64_t{i});
  }
  return digest.Hex();
}

}  // namespace kindred
