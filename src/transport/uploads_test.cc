#include "transport/uploads.h"

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
  return why.reason;
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

TEST(UploadMemory, OneAlwaysFitsAndOthersWithinTheBudget) {
  UploadMemory memory(100);
  EXPECT_TRUE(memory.Take(500));
  EXPECT_FALSE(memory.Take(1));
  memory.Return(500, {});
  EXPECT_TRUE(memory.Take(60));
  EXPECT_TRUE(memory.Take(40));
  EXPECT_FALSE(memory.Take(1));
}

TEST(UploadMemory, BuffersAreUsedAgain) {
  UploadMemory memory(1 << 20);
  ASSERT_TRUE(memory.Take(5000));
  Bytes buffer = memory.Lend(5000);
  buffer.assign(5000, 7);
  const uint8_t* where = buffer.data();
  memory.Return(5000, std::move(buffer));
  ASSERT_TRUE(memory.Take(4000));
  Bytes again = memory.Lend(4000);
  EXPECT_EQ(again.data(), where);
  EXPECT_TRUE(again.empty());  // of what the other client sent nothing can be read
  memory.Return(4000, std::move(again));
  memory.Trim();
  EXPECT_EQ(memory.Lend(0).capacity(), 0u);
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
