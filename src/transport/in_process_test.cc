#include "transport/in_process.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "aggregate/weighted_mean.h"
#include "method/ccl.h"
#include "method/fedca.h"
#include "tests/folders.h"
#include "tests/function_intake.h"

namespace kindred {
namespace {

// 24 images of random pixels on two clients, with these labels.
Split LabeledNoise(int shift) {
  Split split{.images = {.count = 24, .height = 8, .width = 8}};
  Rng rng({.seed = 5, .purpose = Purpose::kShapes});
  for (size_t i = 0; i < 24 * split.images.ImageSize(); ++i) {
    split.images.pixels.push_back(static_cast<uint8_t>(rng.Below(256)));
  }
  for (int i = 0; i < 24; ++i) split.labels.push_back((i * i + shift * i) % 3);
  return split;
}

// The model after two rounds of a method.
std::string DigestAfterTraining(const std::string& method, const Split& data, int workers) {
  const auto folder = TestFolder();
  Partition partition;
  for (int c = 0; c < 2; ++c) {
    partition.names.push_back(std::to_string(c));
    partition.clients.emplace_back();
    for (int i = c; i < 24; i += 2) partition.clients.back().push_back(i);
  }
  MethodContext context = {
      .model = {.arch = "resnet10", .width = 4, .dim = 8, .bn_splits = 1},
      .method = {.name = method,
                 .tables = {CclOptions{.bank = 8, .neighbors = 2},
                            FedcaOptions{.public_images = 12, .base_epochs = 1}}},
      .classes = 3,
      .batch = 6};
  if (const auto foundation = MakeFoundation(context, "mnist", {})) {
    foundation->Make(nullptr);
    context.foundation = foundation;
  }
  LocalStore store(1 << 20, folder.path());
  InProcess transport({.data = data,
                       .partition = partition,
                       .method = context,
                       .options = {.epochs = 1, .batch = 6},
                       .store = store},
                      workers, {});
  NamedTensors global = Clone(MakeMethod(context)->Shared());
  std::map<int, at::Tensor> shared;
  for (int round = 0; round < 2; ++round) {
    const auto plan_for = [&](int client) {
      const auto others = shared.find(1 - client);
      return Plan{.round = round,
                  .rounds = 2,
                  .lr = 0.05,
                  .model = global,
                  .remote = {others == shared.end() ? at::Tensor() : others->second, {}}};
    };
    WeightedMean mean;
    std::map<int, at::Tensor> features;
    FunctionIntake intake([&](Arrival&& arrival) -> std::optional<Refused> {
      mean.Add(arrival.model, arrival.report.images);
      if (arrival.features.defined()) features[arrival.client] = arrival.features;
      return std::nullopt;
    });
    transport.Run(plan_for, {.clients = transport.Available(), .wanted = 2}, intake);
    global = mean.Finish();
    shared = features;
  }
  return DigestOf(global);
}

// The promise about labels: other labels change nothing in unlabeled learning, whatever the method.
TEST(InProcess, LabelsChangeOnlyWhatIsTrainedOnLabels) {
  const Split data = LabeledNoise(0), relabeled = LabeledNoise(1);
  ASSERT_NE(data.labels, relabeled.labels);
  Split unlabeled = data;
  unlabeled.labels.clear();
  for (const auto& kind : MethodKinds()) {
    const bool uses_labels = std::string(kind.name) == "supervised";
    const std::string digest = DigestAfterTraining(kind.name, data, 1);
    EXPECT_EQ(digest == DigestAfterTraining(kind.name, relabeled, 1), !uses_labels) << kind.name;
    if (!uses_labels) {
      EXPECT_EQ(digest, DigestAfterTraining(kind.name, unlabeled, 1)) << kind.name;
    }
  }
}

TEST(InProcess, WorkersDoNotChangeAnyMethodsModel) {
  const Split data = LabeledNoise(0);
  for (const auto& kind : MethodKinds()) {
    EXPECT_EQ(DigestAfterTraining(kind.name, data, 1), DigestAfterTraining(kind.name, data, 2))
        << kind.name;
  }
}

}  // namespace
}  // namespace kindred
