#include "wire/kept_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/log.h"
#include "model/safetensors.h"
#include "wire/kept_parts.h"

namespace kindred {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostKept = 1ull << 36;
constexpr size_t kKeptRounds = 2;

fs::path KeptFile(const fs::path& folder, int round) {
  return folder / fmt::format("round-{}.kept", round);
}

// The rounds that files of the folder are named after, newest first.
std::vector<int> RoundsIn(const fs::path& folder) {
  std::vector<int> rounds;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("round-") || !name.ends_with(".kept")) continue;
    int round = -1;
    std::from_chars(name.data() + 6, name.data() + name.size() - 5, round);
    if (round >= 0 && KeptFile("", round).string() == name) rounds.push_back(round);
  }
  std::sort(rounds.rbegin(), rounds.rend());
  return rounds;
}

KeptRound ParseKept(const Bytes& bytes, const std::string& name) {
  KeptParts parts = ParseKeptParts(bytes);
  const NamedTensors states = ParseSafetensors(parts.states, name).tensors;
  return {.run = std::move(parts.run),
          .round = parts.round,
          .plan = std::move(parts.plan),
          .upload = std::move(parts.upload),
          .start = Under(states, "start"),
          .end = Under(states, "end"),
          .update = {std::move(parts.header), {parts.update.begin(), parts.update.end()}}};
}

}  // namespace

std::string PlanDigest(const std::string& run, const v1::PlanReply& plan,
                       const std::string& settings) {
  int64_t lr;
  const double rate = plan.lr();
  std::memcpy(&lr, &rate, sizeof lr);
  return Digest()
      .Add(std::string_view(run))
      .Add(int64_t{plan.round()})
      .Add(lr)
      .Add(std::string_view(plan.model_digest()))
      .Add(std::string_view(plan.remote_digest()))
      .Add(std::string_view(settings))
      .Hex();
}

void KeepRound(const fs::path& folder, const KeptRound& kept) {
  NamedTensors tensors;
  AddUnder(tensors, "start", kept.start);
  AddUnder(tensors, "end", kept.end);
  const Bytes states = SerializeSafetensors({.tensors = tensors});
  AtomicFile out(KeptFile(folder, kept.round));
  WriteKeptParts({.run = kept.run,
                  .round = kept.round,
                  .plan = kept.plan,
                  .upload = kept.upload,
                  .header = kept.update.header,
                  .update = kept.update.bytes,
                  .states = states},
                 [&](std::span<const uint8_t> bytes) { out.Write(bytes); });
  out.Commit();
  const auto rounds = RoundsIn(folder);
  std::error_code ignored;
  for (size_t i = kKeptRounds; i < rounds.size(); ++i) {
    fs::remove(KeptFile(folder, rounds[i]), ignored);
  }
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {  // of a killed process
    if (entry.path().filename().string().starts_with(".tmp-")) fs::remove(entry.path(), ignored);
  }
}

std::optional<KeptRound> LoadKeptRound(const fs::path& folder, const std::string& run, int round) {
  for (const int each : RoundsIn(folder)) {
    if (each > round) continue;
    const fs::path path = KeptFile(folder, each);
    try {
      KeptRound kept = ParseKept(ReadFile(path, kMostKept), path.string());
      if (kept.run == run && kept.round == each) return kept;
    } catch (const std::exception& error) {
      spdlog::warn("{}: damaged ({}); what is before it is taken", Printable(path.string()),
                   Printable(error.what()));
    }
  }
  return std::nullopt;
}

}  // namespace kindred
