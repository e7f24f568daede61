#include "run/experiment.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "method/method.h"
#include "run/paper_tables.h"
#include "tests/folders.h"

namespace kindred {
namespace {

TEST(Configs, WhatIsShownCanBeReadBack) {
  const auto folder = TestFolder();
  Experiment shown, read;
  Config config = BindExperiment(shown), again = BindExperiment(read);
  config.Apply("server.min_clients", "7", "test");
  config.Apply("server.rule", "median", "test");
  WriteFileAtomically(folder.path() / "config.toml", config.ToToml());
  again.ApplyFile(folder.path() / "config.toml");
  EXPECT_EQ(again.ToJson(), config.ToJson());
}

// One file per method over one file per scale, and one more where a scale has its own for a method:
// each is a configuration that can be trained.
TEST(Configs, EveryMethodCanBeMadeAtEveryScale) {
  const std::filesystem::path folder = std::string(KINDRED_SOURCE_DIR) + "/configs";
  std::vector<std::string> scales = {"demo"};
  scales.insert(scales.end(), ScaleNames().begin(), ScaleNames().end());
  for (const auto& scale : scales) {
    for (const auto& kind : MethodKinds()) {
      Experiment experiment;
      Config config = BindExperiment(experiment);
      config.ApplyFile(folder / (scale + ".toml"));
      config.ApplyFile(folder / "methods" / (std::string(kind.name) + ".toml"));
      const auto tuned = folder / scale / (std::string(kind.name) + ".toml");
      if (std::filesystem::exists(tuned)) config.ApplyFile(tuned);
      EXPECT_EQ(experiment.method.name, kind.name);
      EXPECT_EQ(experiment.train.batch % experiment.model.bn_splits, 0) << scale << kind.name;
      const auto method = MakeMethod({.model = experiment.model,
                                      .method = experiment.method,
                                      .privacy = experiment.privacy,
                                      .features = experiment.features,
                                      .channels = experiment.data.channels,
                                      .classes = 10,
                                      .batch = experiment.train.batch});
      EXPECT_FALSE(Under(method->Shared(), method->EncoderPrefix()).empty());
    }
  }
}

std::string HashWith(const std::string& method, const std::string& key, const std::string& value) {
  Experiment experiment;
  Config config = BindExperiment(experiment);
  config.Apply("method.name", method, "test");
  config.Apply(key, value, "test");
  return ConfigHash(config, experiment);
}

TEST(ConfigHashOf, ARunIsOfWhatItsMethodReads) {
  const auto changes = [](const std::string& method, const std::string& key) {
    return HashWith(method, key, "0.3") != HashWith(method, key, "0.4");
  };
  EXPECT_TRUE(changes("ccl", "ccl.tau"));
  EXPECT_TRUE(changes("moco", "ccl.tau"));
  EXPECT_TRUE(changes("fedema", "fedema.tau"));
  EXPECT_TRUE(changes("fedema", "byol.momentum"));
  EXPECT_TRUE(changes("simclr", "train.lr"));
  EXPECT_FALSE(changes("ccl", "simclr.tau"));
  EXPECT_FALSE(changes("simclr", "ccl.tau"));
  EXPECT_FALSE(changes("byol", "fedema.tau"));
  EXPECT_NE(HashWith("ccl", "train.lr", "0.3"), HashWith("moco", "train.lr", "0.3"));
}

}  // namespace
}  // namespace kindred
