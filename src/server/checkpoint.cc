#include "server/checkpoint.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "model/safetensors.h"
#include "server/checkpoint_record.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostRecord = 1 << 20;
constexpr uint64_t kMostCheckpoint = 1ull << 40;
constexpr size_t kGenerations = 2;

// The generations that count, newest first; none when there is no record.
std::vector<Generation> ReadRecord(const fs::path& folder) {
  const fs::path path = folder / "commit.json";
  if (!FileExists(path)) return {};
  return ParseCommitRecord(ReadFile(path, kMostRecord), path.string());
}

std::string DigestOfBytes(const Bytes& bytes) { return Digest().Add(bytes).Hex(); }

RunState Parse(const Bytes& bytes, const std::string& name, std::map<int, NamedTensors>& clients) {
  const Safetensors content = ParseSafetensors(bytes, name);
  const CheckpointFields fields = FieldsFromMetadata(content.metadata);
  for (const int client : fields.clients) {
    clients[client] = Under(content.tensors, fmt::format("client/{}", client));
  }
  return {.next_round = fields.next_round,
          .server = {.global = Under(content.tensors, "global"),
                     .pool = FeaturePool::FromTensors(Under(content.tensors, "pool")),
                     .recent = fields.recent,
                     .optimizer = Under(content.tensors, "optimizer")},
          .metrics_offset = fields.metrics_offset,
          .progress = fields.progress,
          .identity = fields.identity,
          .input = fields.input,
          .members = fields.members};
}

std::string FileOf(int next_round) { return fmt::format("round-{}.safetensors", next_round); }

// A generation whose bytes have their digest; nothing, and a warning, when it is damaged.
std::optional<RunState> LoadGeneration(const fs::path& folder, const Generation& generation,
                                       std::map<int, NamedTensors>& clients) {
  const std::string path = (folder / generation.file).string();
  std::string why = "its digest differs";
  try {
    const Bytes bytes = ReadFile(path, kMostCheckpoint);
    if (DigestOfBytes(bytes) == generation.digest) return Parse(bytes, path, clients);
  } catch (const std::exception& error) {  // a missing field of the header, too
    why = Printable(error.what());
    clients.clear();
  }
  spdlog::warn("{}: damaged ({})", Printable(path), why);
  return std::nullopt;
}

}  // namespace

void SaveCheckpoint(const fs::path& folder, const RunState& state, LocalStore& store) {
  // One state in memory at a time: first the header's entries, then the bytes in the same order.
  const auto clients = store.Clients();
  std::vector<TensorEntry> entries;
  const NamedTensors pool = state.server.pool.ToTensors();
  AddEntries(entries, "global/", state.server.global);
  AddEntries(entries, "pool/", pool);
  AddEntries(entries, "optimizer/", state.server.optimizer);
  for (const int client : clients) {
    store.With(client, [&](const NamedTensors& local) {
      AddEntries(entries, fmt::format("client/{}/", client), local);
    });
  }
  const std::string file = FileOf(state.next_round);
  AtomicFile out(folder / file);
  Digest digest;
  const auto write = [&](std::span<const uint8_t> bytes) {
    out.Write(bytes);
    digest.Add(bytes);
  };
  const auto write_all = [&](const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors) write(BytesIn(tensor));
  };
  write(SafetensorsHeader(entries, ToMetadata({.next_round = state.next_round,
                                               .metrics_offset = state.metrics_offset,
                                               .progress = state.progress,
                                               .identity = state.identity,
                                               .input = state.input,
                                               .members = state.members,
                                               .recent = state.server.recent,
                                               .clients = clients})));
  write_all(state.server.global);
  write_all(pool);
  write_all(state.server.optimizer);
  for (const int client : clients) store.With(client, write_all);
  out.Commit();

  std::vector<Generation> generations = {{file, digest.Hex()}};
  for (auto& older : ReadRecord(folder)) {
    if (older.file != file && generations.size() < kGenerations) generations.push_back(older);
  }
  WriteFileAtomically(folder / "commit.json", SerializeCommitRecord(generations));

  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {  // ours that no longer count
    const std::string name = entry.path().filename().string();
    const bool ours =
        name.starts_with(".tmp-") || (name.starts_with("round-") && name.ends_with(".safetensors"));
    const bool counts = std::any_of(generations.begin(), generations.end(),
                                    [&](const Generation& each) { return each.file == name; });
    if (ours && !counts) fs::remove(entry.path(), ignored);
  }
}

std::optional<RunState> LoadCheckpoint(const fs::path& folder, LocalStore& store) {
  const auto generations = ReadRecord(folder);
  if (generations.empty()) {
    // The first file may be there without its record: the kill came between the two.
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".safetensors" && entry.path().stem() != "round-1") {
        throw DataError(
            "{}: checkpoints without their commit.json; put it back, or start the run again "
            "in another folder",
            Printable(folder.string()));
      }
    }
    return std::nullopt;
  }
  for (const auto& each : generations) {
    std::map<int, NamedTensors> clients;
    if (auto state = LoadGeneration(folder, each, clients)) {
      if (&each != &generations.front()) spdlog::warn("the checkpoint before it is taken");
      for (auto& [client, tensors] : clients) store.Put(client, std::move(tensors));
      return state;
    }
  }
  throw DataError("{}: every checkpoint is damaged; start the run again in another folder",
                  Printable(folder.string()));
}

std::optional<RunState> LoadServerState(const fs::path& folder, std::optional<int> round) {
  bool there = false;
  for (const auto& each : ReadRecord(folder)) {
    if (round && each.file != FileOf(*round)) continue;
    there = true;
    std::map<int, NamedTensors> ignored;
    if (auto state = LoadGeneration(folder, each, ignored)) return state;
  }
  if (!there) return std::nullopt;
  throw DataError(
      "{}: {} damaged", Printable(folder.string()),
      round ? fmt::format("the checkpoint of round {} is", *round) : "every checkpoint is");
}

}  // namespace kindred
