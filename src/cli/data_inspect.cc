#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"

namespace kindred {
namespace {

constexpr int kShownClasses = 20;

// Mean and standard deviation of each channel, pixels scaled to [0, 1]. Exact: sums of integers.
struct ChannelStatistics {
  std::vector<double> mean, std;
};

ChannelStatistics Statistics(const Images& images) {
  ChannelStatistics result;
  const size_t plane = images.PlaneSize();
  const double count = static_cast<double>(images.count) * static_cast<double>(plane);
  for (size_t c = 0; c < static_cast<size_t>(images.channels); ++c) {
    uint64_t sum = 0, squares = 0;
    for (int i = 0; i < images.count; ++i) {
      for (const uint64_t value : images[i].subspan(c * plane, plane)) {
        sum += value;
        squares += value * value;
      }
    }
    const double mean = static_cast<double>(sum) / count;
    result.mean.push_back(mean / 255);
    result.std.push_back(std::sqrt(static_cast<double>(squares) / count - mean * mean) / 255);
  }
  return result;
}

std::vector<int> CountLabels(const Split& split, int classes) {
  std::vector<int> counts(static_cast<size_t>(classes), 0);
  for (const int label : split.labels) ++counts[static_cast<size_t>(label)];
  return counts;
}

std::string Numbers(const std::vector<double>& values) {
  std::string text;
  for (const double value : values)
    text += fmt::format("{}{:.4f}", text.empty() ? "" : ", ", value);
  return text;
}

CommandResult Inspect(const ConfigFlags& flags) {
  const Resolved resolved = Resolve(flags);
  const Dataset dataset = LoadDataset(resolved.experiment->data);
  const Images& images = dataset.train.images;
  const ChannelStatistics statistics = Statistics(images);
  const std::string hash = DataHash(dataset);
  const auto train = CountLabels(dataset.train, dataset.Classes());
  const auto test = CountLabels(dataset.test, dataset.Classes());

  CommandResult result;
  result.text = TextTable({
      {"dataset", dataset.name},
      {"images", fmt::format("{} training, {} test", images.count, dataset.test.images.count)},
      {"shape", fmt::format("{} x {} x {}{}", images.channels, images.height, images.width,
                            images.grey ? " (grey)" : "")},
      {"classes", dataset.Classes() > 0 ? fmt::format("{}", dataset.Classes()) : "unlabeled"},
      {"mean", Numbers(statistics.mean)},
      {"std", Numbers(statistics.std)},
      {"hash", hash},
  });
  if (dataset.Classes() > 0) {
    std::vector<std::vector<std::string>> rows = {{"class", "training", "test"}};
    for (size_t l = 0; l < std::min<size_t>(train.size(), kShownClasses); ++l) {
      rows.push_back(
          {dataset.label_names[l], fmt::format("{}", train[l]), fmt::format("{}", test[l])});
    }
    result.text += "\n" + TextTable(rows);
    if (train.size() > kShownClasses) {
      result.text += fmt::format("... {} more (--json prints all)\n", train.size() - kShownClasses);
    }
  }
  result.json = {{"dataset", dataset.name},
                 {"train", images.count},
                 {"test", dataset.test.images.count},
                 {"channels", images.channels},
                 {"height", images.height},
                 {"width", images.width},
                 {"grey", images.grey},
                 {"classes", dataset.Classes()},
                 {"label_names", dataset.label_names},
                 {"train_per_class", train},
                 {"test_per_class", test},
                 {"mean", statistics.mean},
                 {"std", statistics.std},
                 {"data_hash", hash}};
  return result;
}

}  // namespace

void AddDataInspect(CLI::App& data, Program& program) {
  auto flags = std::make_shared<ConfigFlags>();
  CLI::App* inspect = AddCommand(data, program, "inspect", "Counts, classes, means, hash",
                                 [flags] { return Inspect(*flags); });
  AddConfigFlags(*inspect, *flags);
  AddDatasetWords(*inspect, *flags);
}

}  // namespace kindred
