#include "run/setup.h"

#include <gtest/gtest.h>

#include "tests/throws.h"

namespace kindred {
namespace {

MethodContext SetupContext(const char* name, int splits) {
  return {.model = {.arch = "resnet10", .width = 4, .dim = 8, .bn_splits = splits},
          .method = {.name = name},
          .classes = 3,
          .batch = 8};
}

TEST(Setup, OnlyMethodsThatNormTheirFeaturesRefuseSplitBatches) {
  for (const auto& kind : MethodKinds()) {
    const std::string name = kind.name;
    const bool splits =
        name == "ccl" || name == "moco" || name == "rotation" || name == "supervised";
    for (const int groups : {1, 2}) {
      const MethodContext context = SetupContext(kind.name, groups);
      const auto check = [&] { MakeFittingMethod(context); };
      if (groups == 1 || splits) {
        EXPECT_NO_THROW(check()) << name;
      } else {
        ExpectError(ExitCode::kUsage, "model.bn_splits = 2", check);
      }
    }
  }
}

TEST(Setup, ABatchIsAMultipleOfItsSplits) {
  Experiment experiment;
  experiment.method.name = "ccl";
  experiment.model.width = 4;
  experiment.train.batch = 9;
  const auto make = [&] {
    MakeFittingMethod(ContextOf(experiment, {.channels = 3, .side = 32, .classes = 2}));
  };
  experiment.model.bn_splits = 3;
  EXPECT_NO_THROW(make());
  experiment.model.bn_splits = 2;
  ExpectError(ExitCode::kUsage, "train.batch = 9", make);
}

// A dataset, what a configuration says of it and what a coordinator offers make the same models.
TEST(Setup, TheSameImagesAreOfOneKindHoweverTheyAreDescribed) {
  Experiment experiment;
  Config config = BindExperiment(experiment);
  config.Apply("data.limit", "20", "test");
  const Dataset dataset = LoadDataset(experiment.data);
  const ImageKind loaded = ImageKindOf(dataset), configured = ImageKindOf(experiment.data),
                  offered = ImageKindOf(InputOf(configured), configured.classes);
  for (const ImageKind& kind : {configured, offered}) {
    EXPECT_EQ(kind.channels, loaded.channels);
    EXPECT_EQ(kind.side, loaded.side);
    EXPECT_EQ(kind.classes, loaded.classes);
    EXPECT_EQ(kind.normalization.mean, loaded.normalization.mean);
  }
  EXPECT_EQ(ContextOf(experiment, loaded).batch, experiment.train.batch);
  EXPECT_EQ(ImageKindOf(EncoderInput{.shape = {3, 8, 9}}, 0).side, 0) << "not square";
}

}  // namespace
}  // namespace kindred
