#include "export/encoder_file.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/safetensors.h"
#include "tests/folders.h"
#include "tests/random_encoder.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(EncoderFile, ComesBackWhole) {
  const auto folder = TestFolder();
  const EncoderFile written = {ExportedEncoder("resnet18"), {{"method", "ccl"}, {"rounds", 3}}};
  WriteFileAtomically(folder.path() / "e.safetensors", SerializeEncoder(written));
  const EncoderFile read = ReadEncoderFile(folder.path() / "e.safetensors");
  EXPECT_EQ(DigestOf(read.encoder.tensors), DigestOf(written.encoder.tensors));
  EXPECT_EQ(read.encoder.model.arch, "resnet18");
  EXPECT_EQ(read.encoder.input.ToText(), written.encoder.input.ToText());
  EXPECT_EQ(read.origin, written.origin);
}

TEST(EncoderFile, RefusesOtherFiles) {
  const auto folder = TestFolder();
  const auto file = folder.path() / "e.safetensors";
  WriteFileAtomically(file, SerializeSafetensors({ExportedEncoder().tensors, {}}));
  ExpectError(ExitCode::kData, "not an encoder that `kindred export`",
              [&] { ReadEncoderFile(file); });
  WriteFileAtomically(file, std::string_view("hello"));
  ExpectError(ExitCode::kData, "safetensors", [&] { ReadEncoderFile(file); });
  EncoderFile foreign = {ExportedEncoder(), {}};
  foreign.encoder.tensors.erase("bn1.bias");
  WriteFileAtomically(file, SerializeEncoder(foreign));
  ExpectError(ExitCode::kData, "bn1.bias", [&] { ReadEncoderFile(file); });
}

// A header is bytes from outside: what it says of the origin is kept only where it can be so.
TEST(EncoderFile, KeepsOfAnOriginWhatIsSound) {
  const auto folder = TestFolder();
  const auto origin_of = [&](const std::string& text) {
    const Encoder encoder = ExportedEncoder();
    WriteFileAtomically(folder.path() / "e.safetensors",
                        SerializeSafetensors({encoder.tensors,
                                              {{"kindred_input", encoder.input.ToText()},
                                               {"kindred_origin", text}}}));
    return ReadEncoderFile(folder.path() / "e.safetensors").origin.dump();
  };
  EXPECT_EQ(origin_of(R"({"method":"ccl","rounds":3,"seed":"x","other":{"a":1}})"),
            R"({"method":"ccl","rounds":3})");
  EXPECT_EQ(origin_of(R"({"shared_features":5,"dataset":["cifar10"],"scheme":null})"), "{}");
  EXPECT_EQ(origin_of(std::string(60000, '[')), "{}");
  EXPECT_EQ(origin_of(std::string(30000, '[') + std::string(30000, ']')), "{}");
  EXPECT_EQ(origin_of("{\"method\":\"" + std::string(1000, 'a') + "\"}"), "{}");
  EXPECT_EQ(origin_of("{\"method\":\"a\\u0007\"}").find('\a'), std::string::npos);
  EXPECT_EQ(origin_of("nonsense"), "{}");
}

}  // namespace
}  // namespace kindred
