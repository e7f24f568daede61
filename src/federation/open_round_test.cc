#include "federation/open_round.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>

#include "wire/packed_update.h"

namespace kindred {
namespace {

const NamedTensors kPartModel = {{"w", torch::ones({2, 2})}};
const UploadShape kPartShape = {.manifest = ManifestOf(kPartModel, Precision::kFloat), .width = 4};

OpenRound RoundOfTwo() {
  OpenRound round = {.number = 4, .nonce = "nonce"};
  round.parts[0] = {};
  round.parts[7] = {};
  return round;
}

v1::UploadBegin PartBegin(const std::function<void(v1::UploadHeader&)>& change = [](auto&) {}) {
  Update update = {.client = 7, .model = kPartModel, .report = {.images = 10, .loss = 1}};
  update.report.steps = update.report.seen = 4;
  PackedUpdate packed = PackUpdate(update, kPartShape);
  packed.header.mutable_key()->set_run("run");
  packed.header.mutable_key()->set_round(4);
  packed.header.mutable_key()->set_id("id");
  packed.header.set_nonce("nonce");
  change(packed.header);
  return SealUpload(packed.header, packed.bytes);
}

std::string CheckUploadBegin(const RoundPart& part, const v1::UploadBegin& begin) {
  try {
    RoundOfTwo().CheckBegin(part, begin, 10, kPartShape);
  } catch (const Refused& why) {
    return WordOf(why.reason);
  }
  return "";
}

TEST(OpenRound, AClientTrainsUntilItAnsweredOrWasRefused) {
  OpenRound round = RoundOfTwo();
  EXPECT_TRUE(round.CanTrain(0) && round.CanTrain(7));
  EXPECT_FALSE(round.CanTrain(1)) << "not asked";
  round.parts[0].accepted = "digest";
  round.parts[7].refused = true;
  EXPECT_FALSE(round.CanTrain(0) || round.CanTrain(7));
  EXPECT_EQ(round.Accepted(), 1);
  OpenRound closing = RoundOfTwo();
  closing.closing = true;
  EXPECT_FALSE(closing.CanTrain(0));
}

TEST(OpenRound, PartsAreOfThisRoundAndOfTheChosen) {
  OpenRound round = RoundOfTwo();
  const auto reason = [&](int client, uint32_t number) -> std::string {
    try {
      round.PartOf(client, number);
    } catch (const Refused& why) {
      return WordOf(why.reason);
    }
    return "";
  };
  EXPECT_EQ(reason(7, 4), "");
  EXPECT_EQ(reason(7, 3), "round");
  EXPECT_EQ(reason(7, UINT32_MAX), "round");
  EXPECT_EQ(reason(1, 4), "chosen");
  round.closing = true;
  EXPECT_EQ(reason(7, 4), "round");
}

TEST(OpenRound, AnUploadBeginsWithTheHeaderOfThisRound) {
  EXPECT_EQ(CheckUploadBegin({}, PartBegin()), "");
  EXPECT_EQ(CheckUploadBegin({.refused = true}, PartBegin()), "refused");
  EXPECT_EQ(CheckUploadBegin({.whole = true}, PartBegin()), "busy");
  EXPECT_EQ(CheckUploadBegin({}, PartBegin([](auto& h) { h.set_nonce("other"); })), "nonce");
  EXPECT_EQ(CheckUploadBegin({}, PartBegin([](auto& h) { h.mutable_key()->set_id("../x"); })),
            "manifest");
  EXPECT_EQ(CheckUploadBegin({}, PartBegin([](auto& h) { h.clear_tensors(); })), "manifest");
  EXPECT_EQ(CheckUploadBegin({}, PartBegin([](auto& h) { h.set_images(11); })), "images");
  v1::UploadBegin changed = PartBegin();
  changed.mutable_header()->set_loss(2);
  EXPECT_EQ(CheckUploadBegin({}, changed), "digest");
}

// Whose stream broke makes room; not who streams, is whole, or has no room itself.
TEST(OpenRound, APartIsParkedWhenItHasRoomAndNobodyBringsIt) {
  OpenRound round = RoundOfTwo();
  EXPECT_EQ(round.Parked(), nullptr);
  RoundPart& part = round.parts[7];
  part.upload = std::make_shared<IncomingUpload>(7, PartBegin());
  EXPECT_EQ(round.Parked(), nullptr) << "it waits for room";
  ASSERT_TRUE(part.upload->TakeRoom(std::make_shared<UploadMemory>(1 << 20)));
  EXPECT_EQ(round.Parked(), &part);
  part.streaming = true;
  EXPECT_EQ(round.Parked(), nullptr);
  part.streaming = false;
  part.whole = true;
  EXPECT_EQ(round.Parked(), nullptr);
}

}  // namespace
}  // namespace kindred
