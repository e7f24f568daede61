// What checkpoints say in words: the record of those that count, and the metadata of one. Either,
// accepted and written again, reads back as the same; files of the record are names, not paths.
#include <nlohmann/json.hpp>

#include "server/checkpoint_record.h"
#include "tests/fuzz/target.h"

namespace kindred {
namespace {

// The strings of a JSON object: what the header of a safetensors file gives.
std::map<std::string, std::string> MetadataIn(std::span<const uint8_t> input) {
  std::map<std::string, std::string> metadata;
  const auto json = nlohmann::json::parse(input.begin(), input.end(), nullptr, false);
  if (!json.is_object()) return metadata;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) metadata[name] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  if (const auto record = Accepted([&] { return ParseCommitRecord(input, "input"); })) {
    for (const auto& each : *record) {
      Require(each.file.find('/') == std::string::npos, "a path in the record");
    }
    const std::string text = SerializeCommitRecord(*record);
    const std::span bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    Require(ParseCommitRecord(bytes, "written") == *record, "another record is read");
  }
  const auto metadata = MetadataIn(input);
  if (const auto fields = Accepted([&] { return FieldsFromMetadata(metadata); })) {
    Require(fields->next_round >= 0, "a negative round");
    for (const int client : fields->clients) Require(client >= 0, "a negative client");
    Require(FieldsFromMetadata(ToMetadata(*fields)) == *fields, "other fields are read");
  }
}

}  // namespace kindred
