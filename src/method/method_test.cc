#include "method/method.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "method/ccl.h"
#include "method/fedca.h"
#include "model/network.h"

namespace kindred {
namespace {

constexpr int kMethodBatch = 8;

Batch MethodBatch(int client, int step) {
  torch::manual_seed(1000 * client + step);
  Batch batch;
  batch.first = torch::randn({kMethodBatch, 3, 8, 8});
  batch.second = torch::randn({kMethodBatch, 3, 8, 8});
  batch.key = {.seed = 2,
               .round = 3,
               .client = static_cast<uint32_t>(client),
               .step = static_cast<uint64_t>(step)};
  for (int i = 0; i < kMethodBatch; ++i) batch.samples.push_back(step * kMethodBatch + i);
  return batch;
}

// Two steps of SGD on a client, as a worker does them: everything that came of it, as text.
std::string TrainSteps(Method& method, const NamedTensors& from, int client, int64_t remote,
                       NamedTensors& local) {
  CopyInto(from, method.Shared());
  for (auto& tensor : method.Trained()) tensor.mutable_grad() = at::Tensor();
  torch::manual_seed(client);
  method.BeginRound({.round = 4 + client,
                     .rounds = 20,
                     .remote = {torch::nn::functional::normalize(torch::randn({remote, 16})), {}}},
                    local);
  method.BeginEpoch({.key = MethodBatch(client, 0).key,
                     .images = 2 * kMethodBatch,
                     .each_batch =
                         [&](const auto& look) {
                           for (const int step : {0, 1}) look(MethodBatch(client, step));
                         }},
                    local);
  torch::optim::SGD sgd(method.Trained(), torch::optim::SGDOptions(0.05).momentum(0.9));
  std::string all;
  for (int step = 0; step < 2; ++step) {
    sgd.zero_grad();
    Batch batch = MethodBatch(client, step);
    if (method.UsesLabels()) batch.labels = torch::arange(kMethodBatch, torch::kInt64) % 3;
    const auto loss = method.Loss(batch, local);
    loss.backward();
    sgd.step();
    if (const StepTrace* trace = method.Trace()) {
      all += fmt::format("{} {} {} ", trace->local, trace->remote, trace->neighbors.defined());
    }
    method.AfterStep(local);
    all += fmt::format("{} ", loss.item<double>());
  }
  for (const auto& [name, value] : method.EndRound(local))
    all += fmt::format("{} {} ", name, value);
  return all + DigestOf(method.Shared()) + DigestOf(local);
}

// Every method of the table: what it shares and keeps can rest and travel, and a worker that has
// trained another client in between gives the same result.
TEST(MethodKinds, HoldNothingOfAClientOutsideItsLocalState) {
  for (const auto& kind : MethodKinds()) {
    const bool matches = std::string_view(kind.name) == "ccl";
    for (const double lambda : matches ? std::vector{0.0, 0.5} : std::vector{0.0}) {
      MethodContext context = {
          .model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 2},
          .method = {.name = kind.name,
                     .tables = {CclOptions{
                                    .bank = 20, .neighbors = 3, .lambda = lambda, .momentum = 0.9},
                                FedcaOptions{.public_images = 16, .base_epochs = 1}}},
          .classes = 3,
          .batch = kMethodBatch,
          .side = 8};
      if (const auto foundation = MakeFoundation(context, "mnist", {})) {
        foundation->Make(nullptr);
        context.foundation = foundation;
      }
      const auto fresh = MakeMethod(context), used = MakeMethod(context);
      const NamedTensors start = Clone(fresh->Shared());
      EXPECT_EQ(start.size(), used->Shared().size());
      EXPECT_FALSE(Under(start, fresh->EncoderPrefix()).empty());
      // All that SGD changes is shared, by names: the server's optimiser steps it.
      const auto trained = TrainedNames(*fresh);
      EXPECT_EQ(trained.size(), fresh->Trained().size()) << kind.name;
      for (const auto& name : trained) {
        EXPECT_FALSE(name.starts_with("k/") || name.find("running_") != std::string::npos) << name;
      }
      NamedTensors local = fresh->NewLocalState(), same = used->NewLocalState(),
                   other = used->NewLocalState();
      for (int round = 0; round < 3; ++round) {  // the second begins with what the first kept
        const std::string expected = TrainSteps(*fresh, start, 1, 0, local);
        EXPECT_NE(TrainSteps(*used, start, 7, 30, other), expected) << "another client";
        EXPECT_EQ(TrainSteps(*used, start, 1, 0, same), expected) << kind.name;
      }
    }
  }
}

// What TablesOfOthers leaves out of a run's hash must not change the run.
TEST(MethodKinds, DoNotReadTablesOfOthers) {
  for (const auto& kind : MethodKinds()) {
    MethodOptions plain = {.name = kind.name}, changed = {.name = kind.name};
    Config plain_config, changed_config;
    Bind(plain_config, plain);
    Bind(changed_config, changed);
    for (Config* config : {&plain_config, &changed_config}) {
      config->Apply("ccl.bank", "20", "test");
      config->Apply("ccl.neighbors", "3", "test");
      config->Apply("fedca.public_images", "16", "test");
      config->Apply("fedca.base_epochs", "1", "test");
    }
    for (const auto& table : TablesOfOthers(kind.name)) {
      const bool rate = table == "byol";
      changed_config.Apply(table + (rate ? ".momentum" : ".tau"), "0.31", "test");
    }
    const auto result = [](const MethodOptions& options) {
      torch::manual_seed(5);
      MethodContext context = {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 1},
                               .method = options,
                               .classes = 3,
                               .batch = kMethodBatch,
                               .side = 8};
      if (const auto foundation = MakeFoundation(context, "mnist", {})) {
        foundation->Make(nullptr);
        context.foundation = foundation;
      }
      const auto method = MakeMethod(context);
      const NamedTensors start = Clone(method->Shared());
      NamedTensors local = method->NewLocalState();
      return TrainSteps(*method, start, 1, 0, local);
    };
    EXPECT_EQ(result(changed), result(plain)) << kind.name;
  }
}

}  // namespace
}  // namespace kindred
