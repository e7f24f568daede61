#include "server/checkpoint_record.h"

#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace kindred {
namespace {

using Metadata = std::map<std::string, std::string>;

const std::string& Field(const Metadata& metadata, const std::string& name) {
  const auto at = metadata.find(name);
  if (at == metadata.end()) throw DataError("a checkpoint without {}", name);
  return at->second;
}

std::string FieldOrEmpty(const Metadata& metadata, const std::string& name) {
  const auto at = metadata.find(name);
  return at == metadata.end() ? "" : at->second;
}

// A whole number, not negative.
template <class T>
T Number(const Metadata& metadata, const std::string& name) {
  const std::string& text = Field(metadata, name);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < T{0}) {
    throw DataError("a checkpoint with {} = {}", name, Printable(text));
  }
  return value;
}

std::vector<int> ClientsFromText(const std::string& text) {
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) throw DataError("a checkpoint whose clients are no list");
  std::vector<int> clients;
  for (const auto& client : list) {
    if (!client.is_number_unsigned() ||
        client.get<uint64_t>() > uint64_t{std::numeric_limits<int>::max()}) {
      throw DataError("a checkpoint with a client that is no number");
    }
    clients.push_back(client.get<int>());
  }
  return clients;
}

}  // namespace

std::string SerializeCommitRecord(const std::vector<Generation>& generations) {
  nlohmann::json record = nlohmann::json::array();
  for (const auto& each : generations) {
    record.push_back({{"file", each.file}, {"digest", each.digest}});
  }
  return record.dump(1) + "\n";
}

std::vector<Generation> ParseCommitRecord(std::span<const uint8_t> bytes, const std::string& name) {
  const nlohmann::json record = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  std::vector<Generation> generations;
  if (record.is_array()) {
    for (const auto& entry : record) {
      if (!entry.is_object() || !entry.contains("file") || !entry.contains("digest")) break;
      if (!entry["file"].is_string() || !entry["digest"].is_string()) break;
      const std::filesystem::path file = entry["file"].get<std::string>();
      generations.push_back({file.filename().string(), entry["digest"].get<std::string>()});
    }
  }
  if (generations.empty()) {
    throw DataError("{}: damaged; the run cannot go on, start it again in another folder",
                    Printable(name));
  }
  return generations;
}

std::map<std::string, std::string> ToMetadata(const CheckpointFields& fields) {
  return {{"next_round", std::to_string(fields.next_round)},
          {"metrics_offset", std::to_string(fields.metrics_offset)},
          {"progress", fields.progress},
          {"identity", fields.identity},
          {"input", fields.input},
          {"members", fields.members},
          {"recent", DeltasToText(fields.recent)},
          {"clients", nlohmann::json(fields.clients).dump()}};
}

CheckpointFields FieldsFromMetadata(const Metadata& metadata) {
  const std::string recent = FieldOrEmpty(metadata, "recent");
  return {.next_round = Number<int>(metadata, "next_round"),
          .metrics_offset = Number<uint64_t>(metadata, "metrics_offset"),
          .progress = Field(metadata, "progress"),
          .identity = Field(metadata, "identity"),
          .input = FieldOrEmpty(metadata, "input"),
          .members = FieldOrEmpty(metadata, "members"),
          .recent = recent.empty() ? RecentDeltas() : DeltasFromText(recent),
          .clients = ClientsFromText(Field(metadata, "clients"))};
}

}  // namespace kindred
