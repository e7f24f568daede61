#include "run/speed.h"

#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "client/round.h"
#include "model/floats.h"
#include "run/setup.h"
#include "server/client_sampling.h"
#include "server/round_loop.h"
#include "transport/in_process.h"

namespace kindred {
namespace {

constexpr int kUsualSide = 32, kClasses = 10;

double TimeOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Bytes of this process that are in memory.
double ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  int64_t whole = 0, resident = 0;
  in >> whole >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE));
}

Split Noise(const DataOptions& options, int count) {
  const int side = SideOf(options);
  Split split;
  split.images = {.count = count, .channels = options.channels, .height = side, .width = side};
  split.images.pixels.resize(static_cast<size_t>(count) * split.images.ImageSize());
  Rng rng({.purpose = Purpose::kShapes});
  for (auto& pixel : split.images.pixels) pixel = static_cast<uint8_t>(rng() & 255);
  split.labels.assign(static_cast<size_t>(count), 0);
  for (int i = 0; i < count; ++i) split.labels[static_cast<size_t>(i)] = i % kClasses;
  return split;
}

constexpr Normalization kNoiseNormalization = {{0.5f, 0.5f, 0.5f}, {0.25f, 0.25f, 0.25f}};

MethodContext NoiseContext(const Experiment& experiment, const std::string& engine) {
  MethodContext context = ContextOf(experiment, {experiment.data.channels, SideOf(experiment.data),
                                                 kClasses, kNoiseNormalization});
  context.model.engine = engine;
  const auto foundation = MakeFoundation(context, "", {});
  if (foundation) foundation->Make(nullptr);
  context.foundation = foundation;
  return context;
}

// Images a second of a round of `spending.workers` clients with `steps` batches each: training,
// encoding, averaging. The round before it warms up, and makes the features that others get.
double RoundRate(const Experiment& experiment, const Spending& spending,
                 const SpeedOptions& options) {
  const int each = options.steps * experiment.train.batch;
  const Split data = Noise(experiment.data, spending.workers * each);
  Partition partition;
  for (int c = 0; c < spending.workers; ++c) {
    auto& own = partition.clients.emplace_back();
    for (int i = 0; i < each; ++i) own.push_back(c * each + i);
  }
  LocalStore store(uint64_t{1} << 32, CacheFolder());
  const MethodContext context = NoiseContext(experiment, spending.engine);
  InProcess transport({.data = data,
                       .partition = partition,
                       .method = context,
                       .options = ClientOptionsOf(experiment, kNoiseNormalization),
                       .store = store},
                      spending.workers, {.stop = options.stop}, spending.cores);
  const auto method = MakeFittingMethod(context);
  ServerState state = {.global = Clone(method->Shared())};
  double rate = 0;
  RoundLoopOptions rounds = RoundsOf(experiment, *method);
  rounds.train.rounds = 2;
  rounds.train.participation = 1;
  rounds.limits = {};
  RunRounds(rounds, transport, state, [&](const RoundReport& report) {
    rate = static_cast<double>(report.images) / report.seconds;
  });
  return rate;
}

// Steps of one client on one core, taken apart.
void TakeApart(const Experiment& experiment, const SpeedOptions& options, Speed& speed) {
  const double before = ResidentBytes();
  const ClientOptions client = ClientOptionsOf(experiment, kNoiseNormalization);
  const auto method = MakeFittingMethod(NoiseContext(experiment, speed.engine));
  NamedTensors local = method->NewLocalState();
  method->BeginRound({}, local);
  torch::optim::SGD sgd(
      method->Trained(),
      torch::optim::SGDOptions(1e-3).momentum(client.momentum).weight_decay(client.weight_decay));
  const Split data = Noise(experiment.data, client.batch);
  const Images& images = data.images;
  Batch batch;
  batch.first = torch::empty({images.count, images.channels, images.height, images.width});
  batch.second = torch::empty_like(batch.first);
  batch.samples.resize(static_cast<size_t>(images.count));
  std::iota(batch.samples.begin(), batch.samples.end(), 0);
  if (method->UsesLabels()) {
    batch.labels = torch::tensor(std::vector<int64_t>(data.labels.begin(), data.labels.end()));
  }
  MakeViewPairs(images, batch.samples, client.views, {}, Floats(batch.first), Floats(batch.second));
  method->BeginEpoch({{}, images.count, [&](const auto& look) { look(batch); }}, local);
  constexpr const char* kParts[] = {"two views of each image", "forward passes and losses",
                                    "backward pass", "SGD", "after the step"};
  std::vector<double> times[std::size(kParts)];
  for (int turn = -1; turn < 2 * options.turns; ++turn) {  // the first warms up
    at::Tensor loss;
    const double seconds[] = {TimeOf([&] {
                                MakeViewPairs(images, batch.samples, client.views,
                                              {.epoch = static_cast<uint32_t>(turn + 1)},
                                              Floats(batch.first), Floats(batch.second));
                              }),
                              TimeOf([&] { loss = method->Loss(batch, local); }), TimeOf([&] {
                                sgd.zero_grad();
                                loss.backward();
                              }),
                              TimeOf([&] { sgd.step(); }),
                              TimeOf([&] { method->AfterStep(local); })};
    for (size_t i = 0; turn >= 0 && i < std::size(kParts); ++i) times[i].push_back(seconds[i]);
  }
  speed.bytes_per_worker = ResidentBytes() - before;
  for (size_t i = 0; i < std::size(kParts); ++i) {
    speed.parts.push_back({kParts[i], MedianOf(times[i])});
    speed.step_seconds += speed.parts.back().seconds;
  }
}

}  // namespace

std::vector<Spending> WaysToSpend(int cores, int clients) {
  std::vector<int> settings;
  for (int workers = 1; workers < cores; workers *= 2) settings.push_back(workers);
  settings.push_back(cores);
  std::vector<Spending> ways;
  for (const int setting : settings) {
    const int workers = std::min(setting, clients);
    ways.push_back({"fast", workers, setting / workers, setting});
  }
  if (cores > 1 && clients > 1) ways.push_back({"fast", 1, cores, cores});
  for (const int setting : settings) {  // it has no threads inside: the rest is idle
    const int workers = std::min(setting, clients);
    if (ways.back().engine == "torch" && ways.back().workers == workers) break;
    ways.push_back({"torch", workers, 1, setting});
  }
  return ways;
}

int SideOf(const DataOptions& options) {
  if (options.size > 0) return options.size;
  for (const auto& kind : DatasetKinds()) {
    if (options.name == kind.name && kind.side > 0) return kind.side;
  }
  return kUsualSide;
}

int UsualClients(const Experiment& experiment) {
  const int clients = experiment.partition.clients;
  return ClientsInRound(clients > 0 ? clients : 5, experiment.train.participation);
}

const Spending& BestFor(int clients, const std::vector<Spending>& ways) {
  const Spending* best = nullptr;
  for (const auto& way : ways) {
    if (way.workers != std::min(way.cores, clients)) continue;
    if (best == nullptr || way.images_per_second > best->images_per_second) best = &way;
  }
  Check(best != nullptr, "no way to spend the cores");
  return *best;
}

double TrainingRate(const Experiment& experiment, const SpeedOptions& options) {
  const int cores = WorkerCount(experiment.train.workers);
  const int workers = std::min(cores, UsualClients(experiment));
  const Spending way = {experiment.model.engine, workers, cores / workers, cores};
  std::vector<double> rates;
  for (int turn = 0; turn < options.turns; ++turn) {
    if (options.stop != nullptr && options.stop->load()) throw Interrupted{};
    rates.push_back(RoundRate(experiment, way, options));
  }
  return MedianOf(rates);
}

Speed MeasureSpeed(const Experiment& experiment, const SpeedOptions& options) {
  Speed speed;
  speed.engine = experiment.model.engine;
  TakeApart(experiment, options, speed);
  speed.spendings = WaysToSpend(WorkerCount(options.most_workers), UsualClients(experiment));
  const int all = static_cast<int>(speed.spendings.size()) * options.turns;
  std::vector<std::vector<double>> rates(speed.spendings.size());
  for (int turn = 0, done = 0; turn < options.turns; ++turn) {
    for (size_t i = 0; i < rates.size(); ++i) {
      if (options.stop != nullptr && options.stop->load()) throw Interrupted{};
      rates[i].push_back(RoundRate(experiment, speed.spendings[i], options));
      if (options.on_measured) options.on_measured(++done, all);
    }
  }
  for (size_t i = 0; i < rates.size(); ++i) {
    speed.spendings[i].images_per_second = MedianOf(rates[i]);
  }
  return speed;
}

}  // namespace kindred
