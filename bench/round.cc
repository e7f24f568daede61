// How a round of the federation scales: with workers, beside a pure multiply-add loop; what share
// of it is not training; and what a client costs when there are 1,000 of them. Both sides of each
// ratio take turns in one run; medians are compared.
#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>

#include "aggregate/weighted_mean.h"
#include "bench/fma.h"
#include "bench/timing.h"
#include "method/ccl.h"
#include "model/one_thread.h"
#include "server/checkpoint.h"
#include "server/round_loop.h"
#include "transport/in_process.h"

namespace kindred {
namespace {

struct Federation {
  Federation(int clients, int images, int width, const std::string& arch)
      : dataset(LoadDataset({.name = "shapes", .limit = clients * images})),
        partition(MakePartition(dataset, {.scheme = "iid", .clients = clients})),
        context{.model = {.arch = arch, .width = width, .bn_splits = 1},
                .method = {.name = "moco", .tables = {CclOptions{.bank = 64}}},
                .batch = 32},
        store(uint64_t{1} << 30, std::filesystem::temp_directory_path() / "kindred-bench"),
        global(Clone(MakeMethod(context)->Shared())) {}

  // Seconds of one round with `workers`, from the same start each time.
  double Round(int workers, int epochs = 1) {
    InProcess transport(
        {.data = dataset.train,
         .partition = partition,
         .method = context,
         .options = {.epochs = epochs, .batch = 32, .views = {{}, dataset.normalization}},
         .store = store},
        workers, {});
    ServerState state = {.global = global};
    return Seconds([&] {
      RunRounds({.train = {.rounds = 1, .epochs = epochs, .batch = 32}}, transport, state,
                [](const RoundReport&) {});
    });
  }

  Dataset dataset;
  Partition partition;
  MethodContext context;
  LocalStore store;
  NamedTensors global;
};

// What a round does besides training: checkpoint, averaging, copies. Seconds.
double Overhead(Federation& federation, const std::filesystem::path& folder) {
  return Seconds([&] {
    WeightedMean mean;
    for (int c = 0; c < federation.partition.Clients(); ++c) {
      mean.Add(Clone(federation.global), 10);  // an update's copy and its sum
    }
    SaveCheckpoint(folder, {.next_round = 1, .server = {.global = mean.Finish()}, .progress = "{}"},
                   federation.store);
  });
}

void Main() {
  UseOneThread();
  constexpr int kTurns = 5;
  std::vector<double> fma, round, share, few, many;
  const TemporaryFolder folder(std::filesystem::temp_directory_path());

  Federation lab(4, 320, 16, "resnet10");
  lab.Round(2);  // warm
  for (int turn = 0; turn < kTurns; ++turn) {
    fma.push_back(FmaRate(2, 0.5) / FmaRate(1, 0.5));
    const double one = lab.Round(1), two = lab.Round(2);
    round.push_back(one / two);
  }
  // A round of the lab preset: 5 clients with 1,000 images, 2 epochs.
  Federation preset(5, 1000, 16, "resnet10");
  for (int turn = 0; turn < 3; ++turn) {
    const double whole = preset.Round(2, 2);
    share.push_back(Overhead(preset, folder.path()) / whole);
  }
  fmt::print("a pure multiply-add loop scales {:.3f} from 1 to 2 threads\n", Median(fma));
  fmt::print("a round of 4 clients scales    {:.3f} from 1 to 2 workers\n", Median(round));
  fmt::print("ratio workers {:.3f}\n", Median(round) / Median(fma));
  fmt::print("share not training {:.4f} (lab preset: averaging and checkpoint)\n", Median(share));

  Federation ten(10, 10, 8, "resnet10"), thousand(1000, 10, 8, "resnet10");
  ten.Round(2);
  for (int turn = 0; turn < 3; ++turn) {
    double sum = 0;
    for (int repeat = 0; repeat < 20; ++repeat) sum += ten.Round(2);
    few.push_back(sum / 20 / 10);
    many.push_back(thousand.Round(2) / 1000);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("a client of 10 images, width 8: {:.2f} ms among 10, {:.2f} ms among 1000\n",
             1e3 * Median(few), 1e3 * Median(many));
  fmt::print("ratio client {:.3f}\n", Median(many) / Median(few));
  fmt::print("peak memory {:.0f} MB\n", static_cast<double>(usage.ru_maxrss) / 1024);
}

}  // namespace
}  // namespace kindred

int main() { kindred::Main(); }
