// What neighborhood matching costs at full scale (B 128, K 4096, 128 numbers a feature): with 50
// neighbours beside 1, and beside a whole training step of ResNet-18 of width 64. Both sides take
// turns in one run; medians are compared. And what memory the fused contrastive loss adds with 100
// clients' banks.
#include <fmt/format.h>
#include <torch/torch.h>

#include <fstream>

#include "bench/timing.h"
#include "loss/contrastive.h"
#include "loss/neighborhood.h"
#include "method/ccl.h"
#include "model/one_thread.h"

namespace kindred {
namespace {

constexpr int kBatch = 128, kBank = 4096, kDim = 128, kClients = 5;

at::Tensor UnitRows(int64_t rows) {
  return torch::nn::functional::normalize(torch::randn({rows, kDim}));
}

// A line of /proc/self/status in MB: VmRSS, what is resident, or VmHWM, the most that ever was.
double Megabytes(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}

// Seconds of a step: forward, backward. The optimiser's part is the same for any loss.
double Step(Method& method, NamedTensors& local, const Batch& batch) {
  return Seconds([&] {
    method.Loss(batch, local).backward();
    method.AfterStep(local);
  });
}

void Main() {
  UseOneThread();
  torch::manual_seed(1);

  const auto banks = UnitRows(int64_t{100} * kBank);
  auto queries = UnitRows(kBatch).requires_grad_();
  const auto keys = UnitRows(kBatch);
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const double before = Megabytes("VmRSS");
  Contrastive(queries, keys, {{banks}}, 0.1).backward();
  fmt::print("memory added by the fused loss over {} features: {:.1f} MB\n", banks.size(0),
             Megabytes("VmHWM") - before);

  const auto candidates = UnitRows(kBank);
  std::vector<double> one, fifty;
  for (int turn = 0; turn < 41; ++turn) {
    one.push_back(Seconds([&] { Neighborhood(queries, candidates, 1, 0.05).loss.backward(); }));
    fifty.push_back(Seconds([&] { Neighborhood(queries, candidates, 50, 0.05).loss.backward(); }));
  }
  fmt::print("matching: {:.2f} ms with 1 neighbour, {:.2f} ms with 50\n", 1e3 * Median(one),
             1e3 * Median(fifty));
  fmt::print("ratio neighbours {:.3f}\n", Median(fifty) / Median(one));

  MethodContext context = {
      .model = {.arch = "resnet18", .width = 64, .dim = kDim, .bn_splits = 4},
      .method = {.name = "ccl", .tables = {CclOptions{.bank = kBank, .lambda = 0}}},
      .batch = kBatch};
  const auto plain = MakeCcl(context);
  NamedTensors local = plain->NewLocalState();
  plain->BeginRound(
      {.round = 1, .rounds = 2, .remote = {UnitRows(int64_t{kClients - 1} * kBank), {}}}, local);
  Batch batch;
  batch.first = torch::randn({kBatch, 3, 32, 32});
  batch.second = torch::randn({kBatch, 3, 32, 32});
  batch.samples.resize(kBatch);
  std::vector<double> steps, matching;
  Step(*plain, local, batch);  // warm
  for (int turn = 0; turn < 3; ++turn) {
    steps.push_back(Step(*plain, local, batch));
    // Drawing and gathering the candidates, then the loss itself.
    matching.push_back(Seconds([&] {
      Rng rng({.seed = static_cast<uint64_t>(turn), .purpose = Purpose::kCandidates});
      const auto drawn = rng.Sample(int64_t{kClients} * kBank, kBank);
      const auto rows = banks.index_select(0, torch::tensor(drawn, torch::kInt64));
      Neighborhood(queries, rows, 5, 0.05).loss.backward();
    }));
  }
  fmt::print("a step takes {:.2f} s, matching {:.2f} ms of it\n", Median(steps),
             1e3 * Median(matching));
  fmt::print("share matching {:.4f}\n", Median(matching) / Median(steps));
}

}  // namespace
}  // namespace kindred

int main() { kindred::Main(); }
