#include "run/finetune.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/judged.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(Finetune, KeepsTheShareOfEachClientsLabelsAndStartsFromTheEncoder) {
  Judged judged;
  const auto tuned = FinetuneTogether(judged.encoder, judged.dataset, judged.experiment, 1);
  for (const auto& own : tuned.labeled.clients) {
    EXPECT_NEAR(static_cast<double>(own.size()), 20, 3) << "rounded class by class";
  }
  EXPECT_GT(tuned.bytes_up, 0u);
  judged.experiment.eval.lr = 0;  // nothing moves: the encoder is still the one given
  judged.experiment.train.weight_decay = 0;
  const auto still = FinetuneTogether(judged.encoder, judged.dataset, judged.experiment, 1);
  EXPECT_TRUE(torch::equal(still.classifier.encoder.tensors.at("conv1.weight"),
                           judged.encoder.tensors.at("conv1.weight")));
  judged.experiment.eval.scratch = true;
  const auto fresh = FinetuneTogether(judged.encoder, judged.dataset, judged.experiment, 2);
  EXPECT_FALSE(torch::equal(fresh.classifier.encoder.tensors.at("conv1.weight"),
                            judged.encoder.tensors.at("conv1.weight")));
}

TEST(Finetune, RefusesAShareThatLeavesAClientWithoutLabels) {
  Judged judged;
  judged.experiment.eval.labels = 0.001;
  ExpectError(ExitCode::kUsage, "leaves client 0 without a label",
              [&] { FinetuneTogether(judged.encoder, judged.dataset, judged.experiment, 1); });
}

}  // namespace
}  // namespace kindred
