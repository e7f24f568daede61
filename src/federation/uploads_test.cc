#include "federation/uploads.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

v1::UploadBegin BeginOf(const std::string& bytes) {
  v1::UploadHeader header;
  header.set_bytes(bytes.size());
  return SealUpload(header,
                    std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

std::string ReasonOf(const std::function<void()>& action) try {
  action();
  return "";
} catch (const Refused& why) {
  return WordOf(why.reason);
}

TEST(IncomingUpload, TakesItsBytesFromOneStreamAfterTheOther) {
  const auto memory = std::make_shared<UploadMemory>(1000);
  IncomingUpload upload(3, BeginOf("0123456789"));
  ASSERT_TRUE(upload.TakeRoom(memory));
  const int first = upload.NextTurn(0);
  EXPECT_FALSE(upload.Add(first, "0123"));
  EXPECT_EQ(ReasonOf([&] { upload.NextTurn(3); }), "offset");
  const int second = upload.NextTurn(4);
  EXPECT_EQ(ReasonOf([&] { upload.Add(first, "456789"); }), "busy");
  EXPECT_EQ(upload.Received(), 4u);
  EXPECT_EQ(ReasonOf([&] { upload.Add(second, "456789x"); }), "size");
  EXPECT_TRUE(upload.Add(second, "456789"));
  upload.Complete(second);
  EXPECT_EQ(std::string(upload.bytes().begin(), upload.bytes().end()), "0123456789");
  EXPECT_EQ(ReasonOf([&] { upload.Complete(second); }), "round");
}

TEST(IncomingUpload, OtherBytesThanTheHeaderSays) {
  const auto memory = std::make_shared<UploadMemory>(1000);
  IncomingUpload upload(3, BeginOf("0123456789"));
  ASSERT_TRUE(upload.TakeRoom(memory));
  const int turn = upload.NextTurn(0);
  EXPECT_TRUE(upload.Add(turn, "0123456798"));
  EXPECT_EQ(ReasonOf([&] { upload.Complete(turn); }), "digest");
}

TEST(IncomingUpload, CrumbsAreRefused) {
  const auto memory = std::make_shared<UploadMemory>(1 << 20);
  const std::string bytes(100000, 'x');
  IncomingUpload upload(3, BeginOf(bytes));
  ASSERT_TRUE(upload.TakeRoom(memory));
  const int turn = upload.NextTurn(0);
  EXPECT_EQ(ReasonOf([&] {
              for (int i = 0; i < 2000; ++i) upload.Add(turn, "x");
            }),
            "size");
}

TEST(UploadMemory, OneAlwaysFitsAndOthersWithinTheBudget) {
  UploadMemory memory(100);
  auto large = memory.Take(500);
  ASSERT_TRUE(large);
  EXPECT_FALSE(memory.Take(1));
  memory.Return(std::move(*large));
  memory.Trim();
  ASSERT_TRUE(memory.Take(60));
  ASSERT_TRUE(memory.Take(40));
  EXPECT_FALSE(memory.Take(1));
}

TEST(UploadMemory, BuffersAreUsedAgainAndCountWhole) {
  UploadMemory memory(10000);
  auto buffer = memory.Take(5000);
  ASSERT_TRUE(buffer);
  buffer->assign(5000, 7);
  const uint8_t* where = buffer->data();
  memory.Return(std::move(*buffer));
  auto again = memory.Take(4000);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->data(), where);
  EXPECT_TRUE(again->empty());      // of what the other client sent nothing can be read
  EXPECT_FALSE(memory.Take(5500));  // 5,000 are out, though 4,000 were asked for
  ASSERT_TRUE(memory.Take(5000));
}

TEST(UploadLine, AdmitsInOrderAndMakesRoom) {
  const auto memory = std::make_shared<UploadMemory>(15);
  UploadLine line(memory);
  std::string order;
  std::vector<std::shared_ptr<IncomingUpload>> uploads;
  for (int i = 0; i < 4; ++i) {
    uploads.push_back(std::make_shared<IncomingUpload>(i, BeginOf("0123456789")));
    line.Enter(uploads.back(), [&order, i] { order += static_cast<char>('a' + i); });
  }
  const auto admit = [&](const std::function<bool()>& make_room) {
    for (const auto& call : line.Admit(make_room)) call();
  };
  admit([] { return false; });
  EXPECT_EQ(order, "a");
  line.Leave (*uploads[1])();
  EXPECT_EQ(order, "ab");  // told, though it has no room
  EXPECT_FALSE(uploads[1]->HasRoom());
  EXPECT_EQ(line.Leave(*uploads[1]), nullptr);
  bool dropped = false;
  admit([&] {
    if (dropped) return false;
    dropped = true;
    uploads[0].reset();
    return true;
  });
  EXPECT_EQ(order, "abc");
  EXPECT_TRUE(uploads[2]->HasRoom());
  EXPECT_FALSE(line.Empty());
}

}  // namespace
}  // namespace kindred
