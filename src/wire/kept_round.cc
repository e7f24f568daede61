#include "wire/kept_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "model/safetensors.h"

namespace kindred {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostKept = 1ull << 36;
constexpr size_t kDigestSize = 64;
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

// Takes the next part: its length, then its bytes.
std::span<const uint8_t> NextPart(std::span<const uint8_t>& rest) {
  uint64_t size = 0;
  if (rest.size() < sizeof size) throw DataError("it ends early");
  std::memcpy(&size, rest.data(), sizeof size);
  rest = rest.subspan(sizeof size);
  if (size > rest.size()) throw DataError("it ends early");
  const auto part = rest.first(size);
  rest = rest.subspan(size);
  return part;
}

KeptRound ParseKept(const Bytes& bytes, const std::string& name) {
  if (bytes.size() < kDigestSize) throw DataError("it ends early");
  auto rest = std::span(bytes).first(bytes.size() - kDigestSize);
  if (DigestOfBytes(rest) != std::string(bytes.end() - kDigestSize, bytes.end())) {
    throw DataError("its digest differs");
  }
  const auto text = NextPart(rest), header = NextPart(rest), update = NextPart(rest),
             tensors = NextPart(rest);
  const Json json = Json::parse(text.begin(), text.end());
  KeptRound kept = {.run = json.at("run"),
                    .round = json.at("round"),
                    .plan = json.at("plan"),
                    .upload = json.at("upload")};
  if (!kept.update.header.ParseFromArray(header.data(), static_cast<int>(header.size()))) {
    throw DataError("its header cannot be read");
  }
  kept.update.bytes.assign(update.begin(), update.end());
  const NamedTensors states = ParseSafetensors(tensors, name).tensors;
  kept.start = Under(states, "start");
  kept.end = Under(states, "end");
  return kept;
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
  AtomicFile out(KeptFile(folder, kept.round));
  Digest digest;
  const auto write = [&](std::span<const uint8_t> bytes) {
    out.Write(bytes);
    digest.Add(bytes);
  };
  const auto part = [&](std::span<const uint8_t> bytes) {
    const uint64_t size = bytes.size();
    write(std::span(reinterpret_cast<const uint8_t*>(&size), sizeof size));
    write(bytes);
  };
  const auto text = [](const std::string& from) {
    return std::span(reinterpret_cast<const uint8_t*>(from.data()), from.size());
  };
  part(text(
      Json{{"run", kept.run}, {"round", kept.round}, {"plan", kept.plan}, {"upload", kept.upload}}
          .dump()));
  part(text(kept.update.header.SerializeAsString()));
  part(kept.update.bytes);
  NamedTensors states;
  AddUnder(states, "start", kept.start);
  AddUnder(states, "end", kept.end);
  part(SerializeSafetensors({.tensors = states}));
  out.Write(text(digest.Hex()));
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
