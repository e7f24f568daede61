#include "run/page_parts.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>

#include "augment/preview.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "eval/projection.h"
#include "privacy/encoding_preview.h"

namespace kindred {
namespace {

constexpr int kMostPoints = 1000, kAxes = 16, kSampleImages = 8, kSampleEncodings = 6;

std::string PngUrl(const DecodedImage& sheet) {
  return "data:image/png;base64," + Base64(EncodePng(sheet.pixels, sheet.shape));
}

}  // namespace

Json ClientsPart(const Partition& partition, const Dataset& dataset) {
  const bool labeled = !dataset.train.labels.empty();
  const auto counts = ClassCounts(partition, dataset.train, labeled ? dataset.Classes() : 1);
  Json part = {{"classes", labeled ? Json(dataset.label_names) : Json::array()},
               {"clients", Json::array()}};
  for (size_t c = 0; c < partition.clients.size(); ++c) {
    Json client = {
        {"place", c}, {"name", partition.names[c]}, {"images", partition.clients[c].size()}};
    if (labeled) client["counts"] = counts[c];
    part["clients"].push_back(client);
  }
  return part;
}

Json ClientsPart(const Members& members) {
  Json part = {{"classes", Json::array()}, {"clients", Json::array()}};
  for (const auto& [place, member] : members) {
    part["clients"].push_back({{"place", place},
                               {"name", member.name},
                               {"images", member.images},
                               {"rounds", member.rounds},
                               {"missed", member.missed},
                               {"strikes", member.strikes},
                               {"left", member.left}});
  }
  return part;
}

Json SamplesPart(const Experiment& experiment, const Dataset& dataset, const Partition& partition) {
  const Images& images = dataset.train.images;
  Rng rng({.seed = experiment.train.seed, .purpose = Purpose::kPreview});
  auto samples = rng.Permutation(images.count);
  samples.resize(static_cast<size_t>(std::min(images.count, kSampleImages)));
  Json part = {
      {"views", PngUrl(PreviewSheet(images, samples, {experiment.views, dataset.normalization},
                                    experiment.train.seed))}};
  const Images own = Select(images, partition.clients.at(0));
  const int mix = experiment.privacy.mix;
  if (own.count >= mix) {
    part["mix"] = mix;
    part["encodings"] =
        PngUrl(EncodingSheet(own, dataset.normalization, std::min(own.count, kSampleEncodings), mix,
                             SeededSecret(experiment.train.seed, 0)));
  }
  return part;
}

Json EmbeddingPart(int round, const at::Tensor& features, const Dataset& dataset,
                   const Partition* partition) {
  const int count = static_cast<int>(features.size(0)), shown = std::min(count, kMostPoints);
  std::vector<int> owner(static_cast<size_t>(count), -1);
  for (int c = 0; partition != nullptr && c < partition->Clients(); ++c) {
    for (const int i : partition->clients[static_cast<size_t>(c)]) {
      owner[static_cast<size_t>(i)] = c;
    }
  }
  std::vector<int64_t> chosen;
  Json labels = Json::array(), owners = Json::array();
  for (int i = 0; i < shown; ++i) {
    const auto at = static_cast<size_t>(static_cast<int64_t>(i) * count / shown);
    chosen.push_back(static_cast<int64_t>(at));
    if (!dataset.train.labels.empty()) labels.push_back(dataset.train.labels[at]);
    if (partition != nullptr) owners.push_back(owner[at]);
  }
  const auto rows = features.index_select(0, torch::tensor(chosen));
  const Projection seen =
      PrincipalAxes(rows, static_cast<int>(std::min<int64_t>(kAxes, rows.size(1))));
  const auto points = seen.points.to(torch::kFloat).contiguous();
  const auto* bytes = reinterpret_cast<const uint8_t*>(points.data_ptr<float>());
  return {{"round", round},
          {"count", shown},
          {"axes", points.size(1)},
          {"explained", seen.explained},
          {"points", Base64({bytes, static_cast<size_t>(points.numel()) * sizeof(float)})},
          {"labels", labels},
          {"owners", owners},
          {"classes", dataset.label_names}};
}

void WritePagePart(const RunDir& dir, const std::string& name, const std::function<Json()>& make) {
  try {
    const auto start = std::chrono::steady_clock::now();
    Json part = make();
    part["seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MakeFolder(dir.page());
    WriteFileAtomically(
        dir.page() / (name + ".json"),
        std::string_view(part.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  } catch (const std::exception& error) {
    spdlog::warn("not for the page: {}", Printable(error.what()));
  }
}

}  // namespace kindred
