#include "run/shared_settings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/throws.h"

namespace kindred {
namespace {

TEST(Settings, WhatACoordinatorSendsMakesTheSameExperiment) {
  Experiment server, client;
  Config of_server = BindExperiment(server), of_client = BindExperiment(client);
  of_server.Apply("train.epochs", "7", "test");
  of_server.Apply("train.lr", "0.0123", "test");
  of_server.Apply("method.name", "byol", "test");
  of_server.Apply("features.encoder", "global", "test");
  of_server.Apply("features.weight", "2.5", "test");
  of_server.Apply("data.name", "cifar10", "test");
  of_server.Apply("server.min_clients", "9", "test");
  ApplySettings(of_server.ForClients(), client, of_client);
  EXPECT_EQ(client.train.epochs, 7);
  EXPECT_EQ(client.train.lr, 0.0123);
  EXPECT_EQ(client.method.name, "byol");
  EXPECT_EQ(client.features.encoder, "global");
  EXPECT_EQ(client.features.weight, 2.5);
  EXPECT_EQ(client.data.name, "shapes");  // a client's own
  EXPECT_EQ(client.coordinator.min_clients, 2);
  EXPECT_EQ(of_client.ForClients(), of_server.ForClients());
}

TEST(Settings, WhatIsNotACoordinatorsToSetIsRefused) {
  for (const char* setting : {"data.path = \"/etc\"",
                              "data.name = \"folder\"",
                              "client.key = \"seeded\"",
                              "client.max_epochs = 1000000",
                              "server.min_clients = 1",
                              "eval.k = 3",
                              "partition.clients = 2",
                              "features.max_age = 1",
                              "features.max_remote = 0",
                              "features.weight = 1e9",
                              "features.weight = -1",
                              "features.encoder = \"other\"",
                              "train.epochs",
                              "train.epochs = ",
                              "nothing.known = 1",
                              "train.epochs = -1",
                              "train.epochs = 1e99",
                              "privacy.features = \"plain\"",
                              "privacy.mix = 2",
                              "train.epochs = 1000000",
                              "train.batch = 1000000",
                              "model.width = 4000",
                              "train.workers = 8"}) {
    Experiment experiment;
    Config config = BindExperiment(experiment);
    SCOPED_TRACE(setting);
    ExpectError(ExitCode::kNetwork, "coordinator",
                [&] { ApplySettings({setting}, experiment, config); });
  }
  Experiment experiment;
  Config config = BindExperiment(experiment);
  ExpectError(ExitCode::kNetwork, "coordinator", [&] {
    ApplySettings({"train.epochs = 1", "train.epochs = 2"}, experiment, config);
  });
  ExpectError(ExitCode::kNetwork, "too many", [&] {
    ApplySettings(std::vector<std::string>(1001, "train.epochs = 1"), experiment, config);
  });
}

TEST(Settings, ACoordinatorSetsWhatIsLearnedAndNothingOfTheOtherSide) {
  Experiment experiment;
  const Config config = BindExperiment(experiment);
  const auto settings = config.ForClients();
  for (const char* key : {"train.epochs = ", "train.engine = ", "model.width = ", "views.crop = ",
                          "method.name = ", "ccl.tau = ", "privacy.features = "}) {
    EXPECT_TRUE(std::ranges::any_of(settings, [&](const std::string& setting) {
      return setting.starts_with(key);
    })) << key;
  }
  for (const auto& setting : settings) {
    for (const char* own : {"data.", "partition.", "eval.", "server.", "client.", "features.max_",
                            "train.workers", "train.memory"}) {
      EXPECT_FALSE(setting.starts_with(own)) << setting;
    }
    EXPECT_EQ(setting.find("path"), std::string::npos) << setting;
  }
}

TEST(Settings, AClientsOwnLimitsWin) {
  Experiment experiment;
  Config config = BindExperiment(experiment);
  config.Apply("client.max_epochs", "5", "test");
  ApplySettings({"train.epochs = 5"}, experiment, config);
  ExpectError(ExitCode::kNetwork, "client.max_epochs allows 5",
              [&] { ApplySettings({"train.epochs = 6"}, experiment, config); });
}

// Few images per step show through an update: gradient inversion.
TEST(Settings, ACoordinatorCannotAskForTinyBatches) {
  Experiment experiment;
  Config config = BindExperiment(experiment);
  ApplySettings({"train.batch = 8"}, experiment, config);
  ExpectError(ExitCode::kNetwork, "train.batch = 7, client.min_batch asks for 8",
              [&] { ApplySettings({"train.batch = 7"}, experiment, config); });
  config.Apply("client.min_batch", "1", "test");
  ApplySettings({"train.batch = 1"}, experiment, config);
  ExpectError(ExitCode::kNetwork, "privacy.mix = 3, client.min_mix asks for 4",
              [&] { ApplySettings({"privacy.mix = 3"}, experiment, config); });
}

// The numbers of a method count where the run's method reads them: a coordinator sends all tables.
TEST(Settings, NumbersOfTheRunsMethodHaveLimits) {
  for (const char* setting : {"fedca.base_epochs = 10000", "fedca.public_images = 16777216"}) {
    Experiment experiment;
    Config config = BindExperiment(experiment);
    EXPECT_NO_THROW(ApplySettings({"method.name = \"moco\"", setting}, experiment, config));
    ExpectError(ExitCode::kNetwork, "allows", [&] {
      ApplySettings({"method.name = \"fedca\"", setting}, experiment, config);
    });
  }
}

// A coordinator that sends nothing gets no default that the client does not allow.
TEST(Settings, LimitsHoldForWhatACoordinatorLeavesOut) {
  for (const char* limit : {"client.max_epochs=1", "client.max_batch=16", "client.max_width=8",
                            "client.max_dim=64", "client.max_rounds=3"}) {
    Experiment experiment;
    Config config = BindExperiment(experiment);
    config.ApplyAssignment(limit);
    ExpectError(ExitCode::kNetwork, "allows", [&] { ApplySettings({}, experiment, config); });
  }
}

TEST(Settings, ImagesLargerThanAClientWantsAreRefused) {
  Experiment experiment;
  const auto offered = [&](int height, int width) {
    return OfferedInput(EncoderInput{.shape = {3, height, width}}.ToText(), experiment);
  };
  EXPECT_EQ(offered(1024, 1024).shape.height, 1024);
  ExpectError(ExitCode::kNetwork, "client.max_side allows 1024", [&] { offered(1025, 32); });
  ExpectError(ExitCode::kNetwork, "client.max_side allows 1024", [&] { offered(32, 16384); });
  ExpectError(ExitCode::kNetwork, "coordinator", [&] { OfferedInput("{}", experiment); });
  BindExperiment(experiment).Apply("client.max_side", "32", "test");
  EXPECT_EQ(offered(32, 32).shape.width, 32);
  ExpectError(ExitCode::kNetwork, "client.max_side allows 32", [&] { offered(33, 33); });
}

}  // namespace
}  // namespace kindred
