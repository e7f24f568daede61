// `kindred embed`: features of images for other tools, and a picture of them.
#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "command/learning.h"
#include "command/open_encoder.h"
#include "eval/feature_cache.h"
#include "eval/kmeans.h"
#include "eval/projection.h"
#include "export/npy.h"
#include "export/scatter.h"
#include "model/one_thread.h"

namespace kindred {
namespace {

// The chosen images, in one row.
struct Embedded {
  Images images;
  std::vector<std::string> split, file;
  std::vector<int> label, client;  // -1: none
};

void Append(const Split& split, const char* name, std::span<const int> clients, Embedded& all) {
  for (int i = 0; i < split.images.count; ++i) {
    const auto at = static_cast<size_t>(i);
    all.split.emplace_back(name);
    all.file.push_back(split.files.empty() ? "" : split.files[at]);
    all.label.push_back(split.labels.empty() ? -1 : split.labels[at]);
    all.client.push_back(clients.empty() ? -1 : clients[at]);
  }
  const int before = all.images.count;
  if (before == 0) {
    all.images = split.images;
  } else {
    all.images.pixels.insert(all.images.pixels.end(), split.images.pixels.begin(),
                             split.images.pixels.end());
    all.images.count += split.images.count;
  }
}

Embedded Choose(const Dataset& dataset, const Experiment& experiment, const EmbedFlags& flags) {
  std::vector<int> clients;
  if (flags.color == "client") {
    if (flags.images || flags.split == "test") {
      throw UsageError("--color client: only the run's own training images belong to clients");
    }
    const Partition partition = MakePartition(dataset, experiment.partition);
    clients.assign(static_cast<size_t>(dataset.train.images.count), -1);
    for (size_t c = 0; c < partition.clients.size(); ++c) {
      for (const int i : partition.clients[c])
        clients[static_cast<size_t>(i)] = static_cast<int>(c);
    }
  }
  Embedded all;
  if (flags.split != "test") Append(dataset.train, "train", clients, all);
  if (flags.split != "train") Append(dataset.test, "test", {}, all);
  if (all.images.count == 0) {
    throw DataError("{}: there are no {} images", dataset.name, flags.split);
  }
  return all;
}

// A field of a CSV file (RFC 4180).
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// One line per image: where it comes from, then its features when they go into the table.
std::string Csv(const Embedded& all, const Dataset& dataset, const std::vector<int>& clusters,
                const at::Tensor* h) {
  std::string text = "row,split,file,label";
  if (!clusters.empty()) text += ",cluster";
  const int64_t width = h != nullptr ? h->size(1) : 0;
  for (int64_t d = 0; d < width; ++d) text += fmt::format(",h{}", d);
  text += "\n";
  const float* values = h != nullptr ? h->data_ptr<float>() : nullptr;
  for (size_t i = 0; i < all.split.size(); ++i) {
    const int label = all.label[i];
    text += fmt::format("{},{},{},{}", i, all.split[i], Field(all.file[i]),
                        label < 0 ? "" : Field(dataset.label_names[static_cast<size_t>(label)]));
    if (!clusters.empty()) text += fmt::format(",{}", clusters[i]);
    for (int64_t d = 0; d < width; ++d) {
      text += fmt::format(",{}", values[static_cast<int64_t>(i) * width + d]);
    }
    text += "\n";
  }
  return text;
}

Bytes Picture(const Embedded& all, const Dataset& dataset, const std::vector<int>& clusters,
              const at::Tensor& h, const EmbedFlags& flags) {
  const Projection projection = PrincipalPlane(UnitRows(h));
  Scatter scatter = {
      .points = projection.points,
      .title = fmt::format("{} images of {}: two principal components, {:.0f} % of the "
                           "variance",
                           all.images.count, dataset.name, 100 * projection.explained)};
  std::string color = flags.color;
  if (color.empty()) color = !clusters.empty() ? "cluster" : all.label[0] >= 0 ? "class" : "";
  if (color == "cluster") {
    scatter.groups = clusters;
    for (int c = 0; c < flags.clusters; ++c) scatter.names.push_back(fmt::format("cluster {}", c));
  } else if (!color.empty()) {
    scatter.groups = color == "class" ? all.label : all.client;
    int most = 0;
    for (const int group : scatter.groups) most = std::max(most, group);
    for (int g = 0; g <= most; ++g) {
      scatter.names.push_back(color == "class" ? dataset.label_names[static_cast<size_t>(g)]
                                               : fmt::format("client {}", g));
    }
    bool none = false;
    for (int& group : scatter.groups) {
      if (group < 0) {
        group = most + 1;
        none = true;
      }
    }
    if (none) scatter.names.emplace_back(color == "class" ? "no label" : "no client");
  }
  return DrawScatter(scatter, PictureKindOf(flags.plot));
}

}  // namespace

CommandResult Embed(const EmbedFlags& flags) {
  UseOneThread();
  const bool npy = flags.out.ends_with(".npy");
  if (!npy && !flags.out.ends_with(".csv")) {
    throw UsageError("--out {}: its name ends in .npy or .csv", Printable(flags.out));
  }
  const std::string table = npy ? flags.out.substr(0, flags.out.size() - 4) + ".csv" : flags.out;
  if (!flags.plot.empty()) PictureKindOf(flags.plot);
  if (flags.color == "cluster" && flags.clusters == 0) {
    throw UsageError("--color cluster: say how many with --clusters");
  }
  for (const std::string& file : {flags.out, table, flags.plot}) {
    if (!file.empty()) RefuseToOverwrite(file, flags.force);
  }
  const TrainedEncoder trained = OpenEncoder(flags.encoder, flags.encoder.runs[0]);
  const Resolved resolved = ResolveFor(flags.config, trained);
  const Dataset dataset = LoadDataset(resolved.experiment->data);
  const Embedded all = Choose(dataset, *resolved.experiment, flags);
  CheckFits(trained.encoder, all.images);
  if (flags.color == "class" && dataset.Classes() == 0) {
    throw UsageError("--color class: the images have no labels");
  }
  Encoder encoder = trained.encoder;
  encoder.model.engine = resolved.experiment->model.engine;
  at::Tensor h;
  {
    Progress progress("embed", static_cast<uint64_t>(all.images.count), "images");
    uint64_t done = 0;
    h = CachedFeatures(
        FeatureCacheFolder(), encoder, all.images,
        {.workers = WorkerCount(resolved.experiment->train.workers),
         .on_images = [&](int n) { progress.At(done += static_cast<uint64_t>(n)); }});
  }
  std::vector<int> clusters;
  if (flags.clusters > 0) {
    if (flags.clusters > all.images.count) {
      throw UsageError("--clusters {}: there are {} images", flags.clusters, all.images.count);
    }
    clusters = KMeansClusters(UnitRows(h), flags.clusters, resolved.experiment->eval.seed);
  }
  const Bytes picture = flags.plot.empty() ? Bytes() : Picture(all, dataset, clusters, h, flags);
  if (npy) WriteFileAtomically(flags.out, SerializeNpy(h));
  WriteFileAtomically(table, Csv(all, dataset, clusters, npy ? nullptr : &h));
  CommandResult result;
  result.json = {{"out", flags.out},
                 {"table", table},
                 {"images", h.size(0)},
                 {"features", h.size(1)},
                 {"encoder_digest", trained.origin["encoder_digest"]}};
  result.text = fmt::format("{}: {} images, {} features each{}\n", flags.out, h.size(0), h.size(1),
                            npy ? fmt::format("; {} names the rows", table) : "");
  if (!flags.plot.empty()) {
    WriteFileAtomically(flags.plot, picture);
    result.text += flags.plot + ": the picture\n";
    result.json["plot"] = flags.plot;
  }
  return result;
}

}  // namespace kindred
