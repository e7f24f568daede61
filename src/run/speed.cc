#include "run/speed.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "client/round.h"
#include "model/momentum.h"
#include "model/network.h"
#include "model/one_thread.h"
#include "server/round_loop.h"
#include "transport/in_process.h"

namespace kindred {
namespace {

constexpr int kUsualSide = 32;

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
  return static_cast<double>(resident) * 4096;
}

Split Noise(const DataOptions& options, int count) {
  const int side = options.size > 0 ? options.size : kUsualSide;
  Split split;
  split.images = {.count = count, .channels = options.channels, .height = side, .width = side};
  split.images.pixels.resize(static_cast<size_t>(count) * split.images.ImageSize());
  Rng rng({.purpose = Purpose::kShapes});
  for (auto& pixel : split.images.pixels) pixel = static_cast<uint8_t>(rng() & 255);
  split.labels.assign(static_cast<size_t>(count), 0);
  for (int i = 0; i < count; ++i) split.labels[static_cast<size_t>(i)] = i % 10;
  return split;
}

ClientOptions OptionsOf(const Experiment& experiment) {
  const auto& train = experiment.train;
  return {.epochs = train.epochs,
          .batch = train.batch,
          .momentum = train.momentum,
          .weight_decay = train.weight_decay,
          .views = {experiment.views, {{0.5f, 0.5f, 0.5f}, {0.25f, 0.25f, 0.25f}}},
          .privacy = experiment.privacy,
          .seed = train.seed};
}

// Clients with `steps` batches each, and the models that train them.
class Federation {
 public:
  Federation(const Experiment& experiment, const Spending& spending, int steps)
      : options_(OptionsOf(experiment)),
        data_(Noise(experiment.data, spending.workers * steps * experiment.train.batch)),
        store_(uint64_t{1} << 32, CacheFolder()),
        train_(experiment.train) {
    const int each = steps * experiment.train.batch;
    for (int c = 0; c < spending.workers; ++c) {
      auto& own = partition_.clients.emplace_back();
      for (int i = 0; i < each; ++i) own.push_back(c * each + i);
    }
    MethodContext context = {.model = experiment.model,
                             .method = experiment.method,
                             .privacy = experiment.privacy,
                             .channels = experiment.data.channels,
                             .classes = 10,
                             .batch = experiment.train.batch,
                             .seed = experiment.train.seed};
    context.model.engine = spending.engine;
    context.model.threads = spending.threads;
    state_.global = Clone(MakeMethod(context)->Shared());
    train_.rounds = 1 << 20;  // of which each call does one
    train_.participation = 1;
    features_ = experiment.features;
    const auto method = MakeMethod(context);
    shared_ = method->FeaturesToShare();
    width_ = experiment.model.dim;
    transport_ = std::make_unique<InProcess>(Clients{.data = data_,
                                                     .partition = partition_,
                                                     .method = context,
                                                     .options = options_,
                                                     .store = store_},
                                             spending.workers, RoundHooks{});
  }

  // Images a second of one more round: training, encoding, averaging.
  double Round() {
    const double seconds = TimeOf([&] {
      TrainOptions train = train_;
      train.rounds = round_ + 1;
      RunRounds({.train = train,
                 .features = features_,
                 .clients = partition_.Clients(),
                 .first = round_,
                 .features_width = width_,
                 .features_most = shared_},
                *transport_, state_, [](const RoundReport&) {});
    });
    ++round_;
    return static_cast<double>(data_.images.count) * options_.epochs / seconds;
  }

 private:
  ClientOptions options_;
  Split data_;
  Partition partition_;
  LocalStore store_;
  TrainOptions train_;
  FeatureOptions features_;
  int shared_ = 0, width_ = 0, round_ = 0;
  ServerState state_;
  std::unique_ptr<InProcess> transport_;
};

// The ways worth trying: both engines, 1, 2, 4, ... workers, and one client with all cores.
std::vector<Spending> Ways(int cores) {
  std::vector<Spending> ways;
  for (const char* engine : {"fast", "torch"}) {
    std::vector<int> counts;
    for (int workers = 1; workers < cores; workers *= 2) counts.push_back(workers);
    counts.push_back(cores);
    for (const int workers : counts) ways.push_back({engine, workers, 1});
    if (cores > 1 && std::string(engine) == "fast") ways.push_back({engine, 1, cores});
  }
  return ways;
}

// A step taken apart, on one core: its parts by themselves, and what is left of the whole.
void TakeApart(const Experiment& experiment, const SpeedOptions& options, Speed& speed) {
  ModelOptions model = experiment.model;
  model.engine = speed.engine;
  model.threads = 1;
  const int64_t channels = experiment.data.channels;
  Network q(model, channels), k(model, channels);
  Initialize(*q, 1);
  Initialize(*k, 1);
  const ClientOptions client = OptionsOf(experiment);
  const Split data = Noise(experiment.data, experiment.train.batch);
  const Images& images = data.images;
  std::vector<int> all(static_cast<size_t>(images.count));
  for (int i = 0; i < images.count; ++i) all[static_cast<size_t>(i)] = i;
  auto first = torch::empty({images.count, channels, images.height, images.width});
  auto second = torch::empty_like(first);
  const auto floats = [](at::Tensor& t) {
    return std::span(t.data_ptr<float>(), static_cast<size_t>(t.numel()));
  };
  torch::optim::SGD sgd(q->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
  std::vector<double> views, keys, forward, backward, update, momentum;
  for (int turn = -1; turn < options.turns; ++turn) {  // the first warms up
    at::Tensor z;
    const double times[] = {TimeOf([&] {
                              MakeViewPairs(images, all, client.views,
                                            {.epoch = static_cast<uint32_t>(turn + 1)},
                                            floats(first), floats(second));
                            }),
                            TimeOf([&] {
                              torch::NoGradGuard no_gradient;
                              k(second);
                            }),
                            TimeOf([&] { z = q(first); }),
                            TimeOf([&] {
                              sgd.zero_grad();
                              z.slice(1, 0, 1).sum().backward();
                            }),
                            TimeOf([&] { sgd.step(); }),
                            TimeOf([&] { UpdateMomentum(*k, *q, 0.99); })};
    if (turn < 0) continue;
    std::vector<double>* const parts[] = {&views, &keys, &forward, &backward, &update, &momentum};
    for (size_t i = 0; i < 6; ++i) parts[i]->push_back(times[i]);
  }
  speed.parts = {{"two views of each image", MedianOf(views)},
                 {"momentum model, forward", MedianOf(keys)},
                 {"main model, forward", MedianOf(forward)},
                 {"main model, backward", MedianOf(backward)},
                 {"SGD", MedianOf(update)},
                 {"momentum update", MedianOf(momentum)}};
  double sum = 0;
  for (const auto& part : speed.parts) sum += part.seconds;
  // The whole from a round of one client on one core, which also encodes and averages.
  const auto whole = std::ranges::find_if(speed.spendings, [&](const Spending& way) {
    return way.engine == speed.engine && way.workers == 1 && way.threads == 1;
  });
  speed.step_seconds = experiment.train.batch / whole->images_per_second;
  speed.parts.push_back(
      {"losses, features to share, averaging", std::max(0.0, speed.step_seconds - sum)});
  speed.step_seconds = std::max(speed.step_seconds, sum);
}

}  // namespace

Speed MeasureSpeed(const Experiment& experiment, const SpeedOptions& options) {
  Speed speed;
  speed.spendings = Ways(WorkerCount(options.most_workers));
  speed.engine = experiment.model.engine;
  std::vector<std::vector<double>> rates(speed.spendings.size());
  std::vector<std::unique_ptr<Federation>> federations;
  const auto stop_if_asked = [&] {
    if (options.stop != nullptr && options.stop->load()) throw Interrupted{};
  };
  const int all = static_cast<int>(speed.spendings.size()) * (options.turns + 1);
  int done = 0;
  const auto measured = [&] {
    if (options.on_measured) options.on_measured(++done, all);
  };
  for (const Spending& way : speed.spendings) {  // and warm up
    stop_if_asked();
    const double before = ResidentBytes();
    federations.push_back(std::make_unique<Federation>(experiment, way, options.steps));
    federations.back()->Round();
    if (way.engine == speed.engine && way.workers == 1 && way.threads == 1) {
      speed.bytes_a_worker = ResidentBytes() - before;
    }
    measured();
  }
  for (int turn = 0; turn < options.turns; ++turn) {
    for (size_t i = 0; i < federations.size(); ++i) {
      stop_if_asked();
      rates[i].push_back(federations[i]->Round());
      measured();
    }
  }
  for (size_t i = 0; i < rates.size(); ++i) {
    speed.spendings[i].images_per_second = MedianOf(rates[i]);
  }
  federations.clear();
  UseOneThread();
  TakeApart(experiment, options, speed);
  return speed;
}

}  // namespace kindred
