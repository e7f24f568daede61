#include "run/experiment.h"

#include <gtest/gtest.h>

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
