#include "method/fedca.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "loss/latent_regression.h"
#include "loss/nt_xent.h"
#include "method/public_base.h"
#include "method/simclr_options.h"
#include "model/network.h"
#include "tests/golden_steps.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// As a run makes it ready, with a finished base model.
MethodContext FedcaContext(double alignment, int public_images = 8) {
  MethodContext context = {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 1},
                           .method = {.name = "fedca",
                                      .tables = {FedcaOptions{.dictionary = 30,
                                                              .alignment = alignment,
                                                              .public_images = public_images,
                                                              .base_epochs = 1}}},
                           .batch = kGoldenBatch,
                           .side = kGoldenSide};
  const auto foundation = MakeFoundation(context, "mnist", {});
  EXPECT_EQ(foundation == nullptr, alignment == 0);
  if (foundation) foundation->Make(nullptr);
  context.foundation = foundation;
  return context;
}

at::Tensor FedcaRows(int64_t rows) { return GoldenRows(rows, 16, 0.5).to(torch::kFloat); }

// The loss of a step, and the method's numbers.
std::pair<double, Metrics> FedcaLoss(const MethodContext& context, const at::Tensor& dictionary) {
  const auto method = MakeFedca(context);
  NamedTensors local;
  method->BeginRound({.remote = {dictionary, {}}}, local);
  const double loss = method->Loss(GoldenStep(0), local).item<double>();
  return {loss, method->EndRound(local)};
}

TEST(Fedca, WithoutDictionaryAndAlignmentIsSimclr) {
  MethodContext context = FedcaContext(0);
  const double loss = FedcaLoss(context, {}).first;
  context.method.name = "simclr";
  context.method.Of<SimclrOptions>().tau = context.method.Of<FedcaOptions>().tau;
  const auto simclr = MakeMethod(context);
  NamedTensors local;
  simclr->BeginRound({}, local);
  EXPECT_EQ(simclr->Loss(GoldenStep(0), local).item<double>(), loss);
}

TEST(Fedca, TheLossIsContrastWithTheDictionaryPlusWeighedAlignment) {
  const auto dictionary = FedcaRows(20);
  const auto [loss, metrics] = FedcaLoss(FedcaContext(0.5), dictionary);
  // Again by hand. With 8 public images and batches of 8 all of them are drawn.
  Network network(FedcaContext(0.5).model, 3);
  CopyInto(MakeFedca(FedcaContext(0.5))->Shared(), TensorsOf(*network));
  const auto z = network(torch::cat({GoldenViews(0, 0), GoldenViews(0, 1)}));
  PublicBase base(FedcaContext(0.5), "mnist", {});
  base.Make(nullptr);
  const double contrast = NtXent(z, dictionary, 0.5).item<double>();
  const double alignment =
      LatentRegression(network(base.PublicImages()), base.Features()).item<double>();
  EXPECT_NEAR(metrics.at("contrast"), contrast, 1e-4);
  EXPECT_NEAR(metrics.at("alignment"), alignment, 1e-4);
  EXPECT_NEAR(loss, contrast + 0.5 * alignment, 1e-4);
  EXPECT_GT(loss, FedcaLoss(FedcaContext(0.5), {}).first) << "the dictionary is more negatives";
}

TEST(Fedca, PublicImagesLeaveRunningStatisticsAlone) {
  std::vector<std::string> digests;
  for (const double alignment : {0.0, 0.5}) {
    const auto method = MakeFedca(FedcaContext(alignment));
    NamedTensors local;
    method->BeginRound({}, local);
    method->Loss(GoldenStep(0), local).backward();
    digests.push_back(DigestOf(method->Shared()));
  }
  EXPECT_EQ(digests[0], digests[1]);
}

TEST(Fedca, SharesItsDictionaryAndNamesThePublicSet) {
  const auto method = MakeFedca(FedcaContext(0.01));
  EXPECT_EQ(method->FeaturesToShare(), 30);
  const std::string before = DigestOf(method->Shared());
  const auto features = method->FeaturesOf(GoldenViews(0, 0));
  EXPECT_EQ(DigestOf(method->Shared()), before);
  EXPECT_EQ(CheckFeatures(features, 16, 8), std::nullopt);
  const std::string note = NoteOf(FedcaContext(0.01).method);
  EXPECT_NE(note.find("at most 8 public images of shapes"), std::string::npos) << note;
}

TEST(Fedca, RefusesToCallPublicWhatClientsHold) {
  MethodContext context = FedcaContext(0.01);
  context.method.Of<FedcaOptions>().public_data = "cifar100";
  ExpectError(ExitCode::kUsage, "is what the clients hold",
              [&] { MakeFoundation(context, "cifar100", {}); });
  context.method.Of<FedcaOptions>().alignment = 0;
  EXPECT_EQ(MakeFoundation(context, "cifar100", {}), nullptr);
}

TEST(Fedca, OtherPublicImagesThanItBeganWithAreRefused) {
  NamedTensors local;
  for (const int images : {8, 7}) {
    const auto method = MakeFedca(FedcaContext(0.5, images));
    const auto begin = [&] { method->BeginRound({}, local); };
    if (images == 8) {
      begin();
    } else {
      ExpectError(ExitCode::kData, "not those that this run began with", begin);
    }
  }
}

TEST(Fedca, MissingPublicImagesAreFoundBeforeARunBegins) {
  MethodContext context = FedcaContext(0.01);
  context.method.Of<FedcaOptions>().public_data = "cifar100";
  context.method.Of<FedcaOptions>().public_path = "/nowhere";
  ExpectError(ExitCode::kData, "/nowhere", [&] { MakeFoundation(context, "mnist", {}); });
  MakeFedca(context);  // an encoder's method, to look at it: no image is needed
}

TEST(Fedca, RefusesADictionaryThatCannotBe) {
  ExpectError(ExitCode::kNetwork, "not of length 1",
              [] { FedcaLoss(FedcaContext(0), 2 * FedcaRows(4)); });
}

}  // namespace
}  // namespace kindred
