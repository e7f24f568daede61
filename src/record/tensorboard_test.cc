#include "record/tensorboard.h"

#include <gtest/gtest.h>

#include <bit>

namespace kindred {
namespace {

// CRC-32C bit by bit (reflected polynomial 82f63b78), independent of the library's table.
uint32_t EventCrc(std::span<const uint8_t> bytes) {
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

uint32_t MaskedEventCrc(std::span<const uint8_t> bytes) {
  const uint32_t crc = EventCrc(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

uint64_t EventNumber(std::span<const uint8_t> bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes.size(); ++i) number |= uint64_t{bytes[i]} << (8 * i);
  return number;
}

// The messages of an event file; lengths and CRCs are checked.
std::vector<Bytes> EventRecords(const Bytes& file) {
  std::vector<Bytes> records;
  std::span<const uint8_t> rest = file;
  while (!rest.empty()) {
    if (rest.size() < 16) {
      ADD_FAILURE() << rest.size() << " bytes are no record";
      break;
    }
    const uint64_t length = EventNumber(rest.first(8));
    EXPECT_EQ(EventNumber(rest.subspan(8, 4)), MaskedEventCrc(rest.first(8)));
    if (length > rest.size() - 16) {
      ADD_FAILURE() << "a record of " << length << " bytes leaves the file";
      break;
    }
    const auto content = rest.subspan(12, length);
    EXPECT_EQ(EventNumber(rest.subspan(12 + length, 4)), MaskedEventCrc(content));
    records.emplace_back(content.begin(), content.end());
    rest = rest.subspan(16 + length);
  }
  return records;
}

void PutDouble(Bytes& bytes, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
}

void PutFloat(Bytes& bytes, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
}

const std::vector<uint8_t> kVersionMessage = {0x1a, 13,  'b', 'r', 'a', 'i', 'n', '.',
                                              'E',  'v', 'e', 'n', 't', ':', '2'};

TEST(Tensorboard, TheTestsOwnCrcIsCastagnolis) {
  const std::string text = "123456789";
  const Bytes bytes(text.begin(), text.end());
  EXPECT_EQ(EventCrc(bytes), 0xe3069283u);
}

TEST(Tensorboard, AFileBeginsWithTheVersion) {
  const Bytes file = SerializeEvents({});
  // Length 15, its masked CRC, field 3 (tag 1a) of 13 letters, its masked CRC.
  Bytes expected = {15, 0, 0, 0, 0, 0, 0, 0};
  const uint32_t length_crc = MaskedEventCrc(expected);
  for (int i = 0; i < 4; ++i) expected.push_back(static_cast<uint8_t>(length_crc >> (8 * i)));
  expected.insert(expected.end(), kVersionMessage.begin(), kVersionMessage.end());
  const uint32_t crc = MaskedEventCrc(kVersionMessage);
  for (int i = 0; i < 4; ++i) expected.push_back(static_cast<uint8_t>(crc >> (8 * i)));
  EXPECT_EQ(file, expected);
}

TEST(Tensorboard, AnEventIsItsMessageByteForByte) {
  const auto records = EventRecords(SerializeEvents(
      {{.wall_time = 1.5e9, .step = 300, .values = {{"loss", 0.25}, {"knn", -3.0}}}}));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0], kVersionMessage);
  // Field 1, a double; field 2, a varint: 300 = 2 x 128 + 44; field 5, a summary of two values,
  // each field 1 of it: a tag (field 1) and a float (field 2). 2 + 11 and 2 + 10 bytes.
  Bytes expected = {0x09};
  PutDouble(expected, 1.5e9);
  for (const uint8_t byte : {0x10, 0xac, 0x02, 0x2a, 25}) expected.push_back(byte);
  for (const uint8_t byte : {0x0a, 11, 0x0a, 4, int{'l'}, int{'o'}, int{'s'}, int{'s'}, 0x15}) {
    expected.push_back(byte);
  }
  PutFloat(expected, 0.25f);
  for (const uint8_t byte : {0x0a, 10, 0x0a, 3, int{'k'}, int{'n'}, int{'n'}, 0x15}) {
    expected.push_back(byte);
  }
  PutFloat(expected, -3.0f);
  EXPECT_EQ(records[1], expected);
}

TEST(Tensorboard, ManyEventsAreARecordEachInOrder) {
  std::vector<ScalarEvent> events;
  for (int i = 0; i < 300; ++i) {
    ScalarEvent event{.wall_time = 1e9 + i, .step = i};
    for (int j = 0; j < i % 5; ++j) {
      event.values.emplace_back("a/long/name/of/a/value/" + std::to_string(j), i * j);
    }
    events.push_back(event);
  }
  const auto records = EventRecords(SerializeEvents(events));
  ASSERT_EQ(records.size(), 301u);
  for (size_t i = 0; i < 300; ++i) {
    const Bytes& record = records[i + 1];
    ASSERT_GE(record.size(), 9u);
    Bytes start = {0x09};
    PutDouble(start, 1e9 + static_cast<double>(i));
    EXPECT_TRUE(std::equal(start.begin(), start.end(), record.begin())) << i;
  }
  // What comes later does not change what is there.
  const Bytes all = SerializeEvents(events);
  events.pop_back();
  const Bytes fewer = SerializeEvents(events);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), all.begin()));
}

}  // namespace
}  // namespace kindred
