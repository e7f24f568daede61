#include "model/safetensors.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "tests/throws.h"

namespace kindred {
namespace {

// A file of this header and as many content bytes (0, 1, 2, ...), unpadded unless text is.
Bytes SafetensorsFile(const std::string& header, size_t content) {
  Bytes bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (size_t i = 0; i < content; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

void ExpectUnsound(const std::string& part, const Bytes& bytes) {
  SCOPED_TRACE(part);
  ExpectError(ExitCode::kData, part, [&] { ParseSafetensors(bytes, "x"); });
}

TEST(Safetensors, RoundTripKeepsEveryBit) {
  Safetensors content;
  content.tensors = {
      {"matrix", torch::arange(6, torch::kFloat32).view({2, 3})},
      {"counter", torch::full({}, int64_t{1} << 60, torch::kInt64)},
      {"negative", torch::full({2}, int64_t{-5}, torch::kInt64)},
      {"scalar", torch::full({}, -0.0f)},
      {"empty", torch::zeros({0, 3})},
      {"empty integers", torch::zeros({2, 0}, torch::kInt64)},
      {"special", torch::tensor({std::numeric_limits<float>::quiet_NaN(),
                                 std::numeric_limits<float>::infinity(), 1e-45f})},
      {"", torch::ones({1})},
      {"a \"quoted\" name\\with\nlines/and {braces}", torch::ones({1})},
      {"größe 數 \xF0\x9F\x8C\xB1", torch::ones({1})},
  };
  content.metadata = {{"format", "pt"}, {"", ""}, {"json", "{\"a\": [1, 2]}\n"}, {"é", "ü"}};
  const Bytes bytes = SerializeSafetensors(content);
  const Safetensors back = ParseSafetensors(bytes, "x");
  EXPECT_EQ(back.metadata, content.metadata);
  ASSERT_EQ(back.tensors.size(), content.tensors.size());
  for (const auto& [name, tensor] : content.tensors) {
    ASSERT_TRUE(back.tensors.contains(name)) << name;
    EXPECT_EQ(back.tensors.at(name).sizes(), tensor.sizes()) << name;
    EXPECT_EQ(back.tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
  }
  EXPECT_EQ(DigestOf(back.tensors), DigestOf(content.tensors));
  EXPECT_EQ(SerializeSafetensors(back), bytes);
}

TEST(Safetensors, NothingMakesASmallSoundFile) {
  const Bytes bytes = SerializeSafetensors({});
  // "{}" padded to 8.
  EXPECT_EQ(bytes, SafetensorsFile("{}      ", 0));
  EXPECT_TRUE(ParseSafetensors(bytes, "x").tensors.empty());
}

TEST(Safetensors, AnEmptyTensorAloneKeepsItsShape) {
  const auto back =
      ParseSafetensors(SerializeSafetensors({.tensors = {{"a", torch::zeros({0, 3})}}}), "x");
  EXPECT_EQ(back.tensors.at("a").sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(Safetensors, WritesTheFormatByteForByte) {
  Safetensors content;
  content.tensors = {{"b", torch::full({1}, int64_t{258}, torch::kInt64)},
                     {"a", torch::tensor({1.0f, -2.0f})}};
  content.metadata = {{"k", "v"}};
  // Names in order, and so are the offsets: a takes 2 x 4 bytes, b the 8 after them.
  std::string header = R"({"__metadata__":{"k":"v"},)"
                       R"("a":{"data_offsets":[0,8],"dtype":"F32","shape":[2]},)"
                       R"("b":{"data_offsets":[8,16],"dtype":"I64","shape":[1]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  Bytes expected = SafetensorsFile(header, 0);
  // 1.0f is 3f800000, -2.0f is c0000000, 258 is 0102; all little-endian.
  for (const uint8_t byte : {0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0xc0,  //
                             0x02, 0x01, 0, 0, 0, 0, 0, 0}) {
    expected.push_back(byte);
  }
  EXPECT_EQ(SerializeSafetensors(content), expected);
}

TEST(Safetensors, HeaderIsPaddedToEightWhateverTheNames) {
  for (size_t length = 0; length < 9; ++length) {
    Safetensors content;
    content.tensors = {{std::string(length, 'n'), torch::ones({1})}};
    const Bytes bytes = SerializeSafetensors(content);
    EXPECT_EQ(bytes[0] % 8, 0) << length;
    EXPECT_EQ((bytes.size() - 4) % 8, 0u) << length;
    EXPECT_EQ(ParseSafetensors(bytes, "x").tensors.begin()->first.size(), length);
  }
}

// Other writers order tensors by size and leave headers unpadded.
TEST(Safetensors, ReadsTensorsInAnyOrderOfOffsets) {
  const auto content =
      ParseSafetensors(SafetensorsFile(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[4,12]},)"
                                       R"("b":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})",
                                       12),
                       "x");
  // Bytes 4, 5, ..., 11 little-endian.
  EXPECT_EQ(content.tensors.at("a").item<int64_t>(), 0x0b0a090807060504);
  EXPECT_EQ(content.tensors.at("b").sizes(), (std::vector<int64_t>{1, 1}));
}

TEST(Safetensors, ParsedTensorsAreCopies) {
  Bytes bytes = SerializeSafetensors({.tensors = {{"a", torch::ones({1})}}});
  const auto content = ParseSafetensors(bytes, "x");
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  EXPECT_EQ(content.tensors.at("a").item<float>(), 1);
}

TEST(Safetensors, RefusesAFileCutAtAnyLength) {
  Safetensors content;
  content.tensors = {{"a", torch::ones({3})}, {"b", torch::zeros({2}, torch::kInt64)}};
  content.metadata = {{"k", "v"}};
  const Bytes bytes = SerializeSafetensors(content);
  for (size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    ExpectUnsound("x: not a sound safetensors file",
                  Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

TEST(Safetensors, AFlippedHeaderByteIsReadOrRefusedNeverWorse) {
  Safetensors content;
  content.tensors = {{"a", torch::ones({2})}, {"b", torch::zeros({1}, torch::kInt64)}};
  content.metadata = {{"k", "v"}};
  const Bytes bytes = SerializeSafetensors(content);
  const size_t header_end = bytes.size() - 16;
  int refused = 0;
  for (size_t at = 0; at < header_end; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = bytes;
      damaged[at] = static_cast<uint8_t>(damaged[at] ^ (1 << bit));
      try {
        ParseSafetensors(damaged, "x");
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::kData);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, static_cast<int>(header_end));  // most of 8 flips a byte
}

TEST(Safetensors, RefusesABadSizeOfTheHeader) {
  ExpectUnsound("shorter than its first number", {});
  ExpectUnsound("shorter than its first number", Bytes(7, 0));
  ExpectUnsound("does not begin with {", Bytes(8, 0));
  Bytes bytes = SafetensorsFile("{}", 0);
  ++bytes[0];
  ExpectUnsound("leaves the file", bytes);
  ExpectUnsound("leaves the file", Bytes(64, 0xff));  // 2^64 - 1: 8 + N wraps
  // Within the file, but above 16 MB.
  bytes = SafetensorsFile("{}" + std::string(16 << 20, ' '), 0);
  ExpectUnsound("leaves the file", bytes);
}

TEST(Safetensors, RefusesAHeaderThatIsNoObject) {
  ExpectUnsound("does not begin with {", SafetensorsFile("[]", 0));
  ExpectUnsound("does not begin with {", SafetensorsFile(" {}", 0));
  ExpectUnsound("not a JSON object", SafetensorsFile("{", 0));
  ExpectUnsound("not a JSON object", SafetensorsFile("{} x", 0));
  ExpectUnsound("not a JSON object", SafetensorsFile("{\"\xff\":1}", 0));
  ExpectUnsound("not a JSON object", SafetensorsFile(std::string(100000, '{'), 0));
}

TEST(Safetensors, RefusesANameThatIsThereTwice) {
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  ExpectUnsound("twice", SafetensorsFile(R"({"a":)" + entry + R"(,"a":)" + entry + "}", 4));
  // The same name once spelt with an escape.
  ExpectUnsound("twice", SafetensorsFile(R"({"a":)" + entry + R"(,"\u0061":)" + entry + "}", 4));
  ExpectUnsound("twice", SafetensorsFile(R"({"__metadata__":{"k":"1","k":"2"}})", 0));
  ExpectUnsound("twice",
                SafetensorsFile(
                    R"({"a":{"dtype":"I64","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4));
  // The same field in two objects is no repetition.
  EXPECT_EQ(ParseSafetensors(
                SafetensorsFile(R"({"a":)" + entry + R"(,"__metadata__":{"a":"1"}})", 4), "x")
                .tensors.size(),
            1u);
}

// One tensor "a" with these fields, over `content` bytes.
Bytes SafetensorsEntry(const std::string& dtype, const std::string& shape,
                       const std::string& offsets, size_t content) {
  return SafetensorsFile(
      R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
      content);
}

TEST(Safetensors, RefusesOffsetsThatOverlapOrLeaveAHole) {
  const auto two = [](const std::string& a, const std::string& b) {
    return SafetensorsFile(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
                               R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}",
                           12);
  };
  ExpectUnsound("overlaps another tensor or leaves a hole", two("[0,4]", "[0,4]"));
  ExpectUnsound("overlaps another tensor or leaves a hole", two("[0,4]", "[2,6]"));
  ExpectUnsound("overlaps another tensor or leaves a hole", two("[0,4]", "[8,12]"));
  ExpectUnsound("overlaps another tensor or leaves a hole", two("[4,8]", "[8,12]"));
  ExpectUnsound("bytes after the last tensor", two("[0,4]", "[4,8]"));
  ExpectUnsound("bytes after the last tensor", SafetensorsFile("{}", 1));
}

TEST(Safetensors, RefusesOffsetsThatAreNoPlaceInTheFile) {
  const auto offsets = [](const std::string& part, const std::string& text) {
    ExpectUnsound(part, SafetensorsEntry("\"F32\"", "[1]", text, 4));
  };
  offsets("lies outside", "[0,8]");
  offsets("lies outside", "[4,0]");
  offsets("lies outside", "[0]");
  offsets("lies outside", "[]");
  offsets("lies outside", "[0,18446744073709551615]");
  offsets("no unsigned integer", "[0,18446744073709551616]");
  offsets("no unsigned integer", "[-4,0]");
  offsets("no unsigned integer", "[0,-1]");
  offsets("no unsigned integer", "[0,4.0]");
  offsets("no unsigned integer", "[0,\"4\"]");
  offsets("no list", "[0,4,4]");
  offsets("no list", "4");
  offsets("no list", "null");
  offsets("no list", "{\"0\":0,\"1\":4}");
}

TEST(Safetensors, RefusesShapesThatAreNotTheBytes) {
  const auto shape = [](const std::string& part, const std::string& text) {
    ExpectUnsound(part, SafetensorsEntry("\"F32\"", text, "[0,4]", 4));
  };
  shape("a shape that is not its size", "[0]");
  shape("larger than the file", "[2]");
  shape("larger than the file", "[4611686018427387904,4]");  // 2^62 x 4 = 2^64
  shape("larger than the file", "[4611686018427387905]");    // x 4 bytes = 4 mod 2^64
  shape("larger than the file", "[4294967296,4294967296]");  // 2^32 x 2^32
  shape("no unsigned integer", "[-1]");
  shape("no unsigned integer", "[1.0]");
  shape("no unsigned integer", "[true]");
  shape("no list", "[1,1,1,1,1,1,1,1,1]");
  shape("no list", "\"1\"");
  ExpectUnsound("a shape that is not its size", SafetensorsEntry("\"F32\"", "[1]", "[0,8]", 8));
}

// A zero makes the product 0 whatever stands beside it; sizes that no tensor can have are refused.
TEST(Safetensors, RefusesHugeAxesBesideAnEmptyOne) {
  const auto shape = [](const std::string& text) {
    ExpectUnsound("not a sound safetensors file", SafetensorsEntry("\"F32\"", text, "[0,0]", 0));
  };
  shape("[0,9223372036854775808]");  // 2^63: negative as an int64
  shape("[0,18446744073709551615]");
  shape("[0,4611686018427387904,4611686018427387904]");
}

TEST(Safetensors, RefusesOtherKindsAndFields) {
  ExpectUnsound("a is neither F32 nor I64", SafetensorsEntry("\"F64\"", "[1]", "[0,8]", 8));
  ExpectUnsound("a is neither F32 nor I64", SafetensorsEntry("\"f32\"", "[1]", "[0,4]", 4));
  ExpectUnsound("a is neither F32 nor I64", SafetensorsEntry("32", "[1]", "[0,4]", 4));
  ExpectUnsound("lacks", SafetensorsFile(R"({"a":{"dtype":"F32","shape":[0]}})", 0));
  ExpectUnsound("lacks", SafetensorsFile(
                             R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"x":1}})", 0));
  ExpectUnsound("lacks", SafetensorsFile(R"({"a":1})", 0));
  ExpectUnsound("lacks", SafetensorsFile(R"({"a":[1,2,3]})", 0));
  // A name from the file is shown without its control characters: one line.
  ExpectUnsound("lacks", SafetensorsFile(R"({"a\nb":1})", 0));
}

TEST(Safetensors, RefusesMetadataThatIsNotText) {
  ExpectUnsound("metadata", SafetensorsFile(R"({"__metadata__":{"a":1}})", 0));
  ExpectUnsound("metadata", SafetensorsFile(R"({"__metadata__":{"a":{"b":"c"}}})", 0));
  ExpectUnsound("metadata", SafetensorsFile(R"({"__metadata__":{"a":null}})", 0));
  ExpectUnsound("metadata", SafetensorsFile(R"({"__metadata__":3})", 0));
}

TEST(Safetensors, RefusesMetadataThatIsNoObject) {
  ExpectUnsound("metadata", SafetensorsFile(R"({"__metadata__":"text"})", 0));
  ExpectUnsound("metadata", SafetensorsFile(R"({"__metadata__":["text"]})", 0));
  ExpectUnsound("metadata", SafetensorsFile(R"({"__metadata__":null})", 0));
}

}  // namespace
}  // namespace kindred
