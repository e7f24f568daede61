#include "wire/kept_parts.h"

#include <cstring>
#include <limits>

#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"

namespace kindred {
namespace {

constexpr size_t kDigestSize = 64;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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

}  // namespace

void WriteKeptParts(const KeptParts& parts,
                    const std::function<void(std::span<const uint8_t>)>& write) {
  Digest digest;
  const auto part = [&](std::span<const uint8_t> bytes) {
    const uint64_t size = bytes.size();
    const std::span length(reinterpret_cast<const uint8_t*>(&size), sizeof size);
    digest.Add(length).Add(bytes);
    write(length);
    write(bytes);
  };
  const Json json = {
      {"run", parts.run}, {"round", parts.round}, {"plan", parts.plan}, {"upload", parts.upload}};
  part(BytesOf(json.dump()));
  part(BytesOf(parts.header.SerializeAsString()));
  part(parts.update);
  part(parts.states);
  write(BytesOf(digest.Hex()));
}

KeptParts ParseKeptParts(std::span<const uint8_t> bytes) {
  if (bytes.size() < kDigestSize) throw DataError("it ends early");
  auto rest = bytes.first(bytes.size() - kDigestSize);
  if (Digest().Add(rest).Hex() != TextOf(bytes.last(kDigestSize))) {
    throw DataError("its digest differs");
  }
  const auto text = NextPart(rest), header = NextPart(rest);
  KeptParts parts;
  parts.update = NextPart(rest);
  parts.states = NextPart(rest);
  try {
    const Json json = Json::parse(text.begin(), text.end());
    parts.run = json.at("run").get<std::string>();
    parts.round = json.at("round").get<int>();
    parts.plan = json.at("plan").get<std::string>();
    parts.upload = json.at("upload").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    throw DataError("its first part cannot be read: {}", error.what());
  }
  if (header.size() > std::numeric_limits<int>::max() ||
      !parts.header.ParseFromArray(header.data(), static_cast<int>(header.size()))) {
    throw DataError("its header cannot be read");
  }
  return parts;
}

}  // namespace kindred
