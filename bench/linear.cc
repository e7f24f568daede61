// Linear evaluation (fast), for bench/linear.py to set beside scikit-learn's.
//
//   bench_linear features WIDTH COUNT FEATURES.npy LABELS.txt   h of Fashion-MNIST's first images
//   bench_linear fit COUNT DIM FEATURES.npy LABELS.txt          prints the seconds of a fit
#include <fmt/format.h>
#include <torch/torch.h>

#include <cstring>
#include <fstream>

#include "bench/timing.h"
#include "data/dataset.h"
#include "eval/features.h"
#include "eval/linear_probe.h"
#include "eval/score.h"
#include "export/npy.h"
#include "model/network.h"
#include "model/one_thread.h"
#include "model/resnet.h"

namespace kindred {
namespace {

void MakeFeatures(int width, int count, const std::string& out, const std::string& labels) {
  DataOptions data;
  data.name = "fashion-mnist";
  data.path = "/usr/share/datasets/fashion-mnist";
  data.limit = count;
  const Dataset dataset = LoadDataset(data);
  const ModelOptions options = {.arch = "resnet10", .width = width, .bn_splits = 1};
  ResNet model(options, 3);
  Initialize(*model, 0);
  const Encoder encoder = {Clone(OwnTensorsOf(*model)), options, InputOf(dataset)};
  WriteFileAtomically(out,
                      SerializeNpy(EncodeImages(encoder, dataset.train.images, {.workers = 2})));
  std::ofstream lines(labels);
  for (const int label : dataset.train.labels) lines << label << "\n";
}

void Fit(int64_t count, int64_t dim, const std::string& features, const std::string& file) {
  const Bytes bytes = ReadFile(features, uint64_t{1} << 34);
  auto h = torch::empty({count, dim});
  const size_t size = static_cast<size_t>(count * dim) * sizeof(float);
  std::memcpy(h.data_ptr<float>(), bytes.data() + bytes.size() - size, size);
  std::ifstream lines(file);
  std::vector<int> labels;
  for (int label; lines >> label;) labels.push_back(label);
  LinearProbe probe;
  const double seconds = Seconds([&] { probe = FitLinearProbe(h, labels, 10, 0, 2); });
  fmt::print("{} {}\n", seconds, ScoreOf(Argmax(Logits(probe, h)), labels, 10).accuracy);
}

}  // namespace
}  // namespace kindred

int main(int argc, char** argv) {
  kindred::UseOneThread();
  if (argc != 6) return 2;
  const std::string what = argv[1];
  if (what == "features")
    kindred::MakeFeatures(std::stoi(argv[2]), std::stoi(argv[3]), argv[4], argv[5]);
  if (what == "fit") kindred::Fit(std::stol(argv[2]), std::stol(argv[3]), argv[4], argv[5]);
  return 0;
}
