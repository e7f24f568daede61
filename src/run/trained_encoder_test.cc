#include "run/trained_encoder.h"

#include <gtest/gtest.h>

#include "export/model_card.h"
#include "run/run_record.h"
#include "run/setup.h"
#include "tests/folders.h"

namespace kindred {
namespace {

// A run's folder after its only round, with this identity in its checkpoint and this summary.
struct FinishedRun {
  FinishedRun(const std::string& identity, const Json& summary,
              const std::vector<std::string>& assignments = {})
      : dir(folder.path() / "run") {
    Experiment experiment;
    Config config = BindExperiment(experiment);
    for (const char* each : {"method.name=ccl", "model.arch=resnet10", "model.width=4",
                             "model.dim=16", "ccl.bank=64", "train.rounds=1"}) {
      config.ApplyAssignment(each);
    }
    for (const auto& each : assignments) config.ApplyAssignment(each);
    dir.Create(TextsOf(config));
    const ImageKind images = ImageKindOf(experiment.data);
    const auto method = MakeMethod(ContextOf(experiment, images));
    RunState state;
    state.next_round = 1;
    state.server.global = Clone(method->Shared());
    state.identity = identity;
    state.progress = "{}";
    state.input = InputOf(images).ToText();
    LocalStore none(0, dir.scratch());
    SaveCheckpoint(dir.checkpoints(), state, none);
    WriteFileAtomically(dir.summary(), summary.dump());
  }
  Json Origin() const { return OpenTrainedEncoder(dir.path().string()).origin; }
  std::string Card() const {
    const TrainedEncoder trained = OpenTrainedEncoder(dir.path().string());
    return ModelCardText({.encoder = trained.encoder, .origin = trained.origin});
  }

  TemporaryFolder folder = TestFolder();
  RunDir dir;
};

TEST(TrainedEncoder, OfASimulationNamesTheImagesAndThePartition) {
  const FinishedRun run("c0 d0 p0", {{"clients", 5}});
  const Json origin = run.Origin();
  EXPECT_EQ(origin["simulated"], true);
  EXPECT_EQ(origin["train_data_hash"], "d0");
  EXPECT_EQ(origin["train_partition_hash"], "p0");
  EXPECT_NE(run.Card().find("one process held the images of all clients"), std::string::npos);
  EXPECT_NE(run.Card().find("`c0` `d0` `p0`"), std::string::npos);
}

TEST(TrainedEncoder, OfACoordinatorSaysThatImagesStayedWithTheirOwners) {
  const FinishedRun run("c0 0123abcd federation", {{"clients", 3}, {"role", "coordinator"}});
  const Json origin = run.Origin();
  EXPECT_EQ(origin["simulated"], false);
  EXPECT_EQ(origin["run"], "0123abcd");
  EXPECT_FALSE(origin.contains("train_data_hash"));
  EXPECT_TRUE(origin.contains("shared_features"));
  const std::string card = run.Card();
  EXPECT_NE(card.find("Images stayed with their owners"), std::string::npos) << card;
  EXPECT_NE(card.find("images of 3 owners"), std::string::npos) << card;
  EXPECT_NE(card.find("| run | `0123abcd` |"), std::string::npos) << card;
  EXPECT_EQ(card.find("`federation`"), std::string::npos) << card;
}

TEST(TrainedEncoder, OfFedcaNeedsNoPublicImages) {
  const FinishedRun run(
      "c0 d0 p0", {{"clients", 5}},
      {"method.name=fedca", "fedca.public_data=mnist", "fedca.public_path=/nowhere"});
  EXPECT_EQ(run.Origin()["method"], "fedca");
}

TEST(TrainedEncoder, OfAClientKnowsTheRunAlone) {
  const FinishedRun run("0123abcd", {{"clients", 1}, {"role", "client"}});
  const Json origin = run.Origin();
  EXPECT_EQ(origin["simulated"], false);
  EXPECT_EQ(origin["run"], "0123abcd");
  EXPECT_FALSE(origin.contains("clients")) << "it does not know how many there are";
  EXPECT_NE(run.Card().find("images of several owners"), std::string::npos);
}

}  // namespace
}  // namespace kindred
