#include "model/safetensors_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"

namespace kindred {
namespace {

constexpr uint64_t kMostHeader = 16 << 20;
constexpr uint64_t kMostExtent = 1ull << 40;  // bytes of a shape, zeros taken as ones

// A tensor, and where its bytes begin after the header.
struct Placed {
  TensorEntry entry;
  uint64_t begin = 0;
};

[[noreturn]] void Refuse(const std::string& file, const std::string& why) {
  throw DataError("{}: not a sound safetensors file: {}", Printable(file), Printable(why));
}

// Parses the header; a name that occurs twice in one object is refused, where nlohmann-json would
// silently keep the last.
nlohmann::json ParseHeader(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> open;
  bool twice = false;
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::object_start) open.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) open.pop_back();
    if (event == nlohmann::json::parse_event_t::key) {
      twice |= !open.back().insert(parsed.get<std::string>()).second;
    }
    return true;
  };
  nlohmann::json header = nlohmann::json::parse(text, watch, false);
  if (twice) Refuse(file, "a name is there twice");
  if (!header.is_object()) Refuse(file, "its header is not a JSON object");
  return header;
}

// A list of unsigned integers of at most `most` elements.
std::vector<uint64_t> Numbers(const nlohmann::json& list, size_t most, const std::string& file) {
  if (!list.is_array() || list.size() > most) Refuse(file, "a shape or offsets that are no list");
  std::vector<uint64_t> numbers;
  for (const auto& number : list) {
    if (!number.is_number_unsigned()) Refuse(file, "a shape or offset that is no unsigned integer");
    numbers.push_back(number.get<uint64_t>());
  }
  return numbers;
}

Placed ParseEntry(const std::string& name, const nlohmann::json& fields, uint64_t content,
                  const std::string& file) {
  if (!fields.is_object() || fields.size() != 3 || !fields.contains("dtype") ||
      !fields.contains("shape") || !fields.contains("data_offsets")) {
    Refuse(file, name + " lacks dtype, shape or data_offsets");
  }
  const bool integer = fields["dtype"] == "I64";
  if (!integer && fields["dtype"] != "F32") Refuse(file, name + " is neither F32 nor I64");
  const auto offsets = Numbers(fields["data_offsets"], 2, file);
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > content) {
    Refuse(file, name + " lies outside the file");
  }
  std::vector<int64_t> shape;
  uint64_t bytes = integer ? 8 : 4, extent = bytes;
  for (const uint64_t size : Numbers(fields["shape"], 8, file)) {
    if (size != 0 && bytes > content / size) Refuse(file, name + " is larger than the file");
    if (size > kMostExtent / extent) Refuse(file, name + " has an axis too long");
    extent *= std::max<uint64_t>(size, 1);
    bytes *= size;
    shape.push_back(static_cast<int64_t>(size));
  }
  if (bytes != offsets[1] - offsets[0]) Refuse(file, name + " has a shape that is not its size");
  return {{name, integer, std::move(shape), bytes}, offsets[0]};
}

std::map<std::string, std::string> ParseMetadata(const nlohmann::json& fields,
                                                 const std::string& file) {
  if (!fields.is_object()) Refuse(file, "metadata that is no object");
  std::map<std::string, std::string> metadata;
  for (const auto& [field, entry] : fields.items()) {
    if (!entry.is_string()) Refuse(file, "metadata that is not text");
    metadata[field] = entry.get<std::string>();
  }
  return metadata;
}

}  // namespace

Bytes SafetensorsHeader(const std::vector<TensorEntry>& entries,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& entry : entries) {
    header[entry.name] = {{"dtype", entry.integer ? "I64" : "F32"},
                          {"shape", entry.shape},
                          {"data_offsets", {offset, offset + entry.bytes}}};
    offset += entry.bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kMostHeader) {
    throw DataError("a safetensors header of {} bytes, more than the {} that are read back",
                    text.size(), kMostHeader);
  }
  Bytes bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<uint8_t>(text.size() >> shift));
  }
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

SafetensorsLayout ParseSafetensorsLayout(std::span<const uint8_t> bytes, const std::string& name) {
  if (bytes.size() < 8) Refuse(name, "it is shorter than its first number");
  uint64_t size = 0;
  for (size_t i = 0; i < 8; ++i) size |= uint64_t{bytes[i]} << (8 * i);
  if (size > kMostHeader || size > bytes.size() - 8) Refuse(name, "its header leaves the file");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, size);
  if (!text.starts_with('{')) Refuse(name, "its header does not begin with {");

  SafetensorsLayout layout{.start = 8 + size};
  const uint64_t content = bytes.size() - layout.start;
  std::vector<Placed> tensors;
  const nlohmann::json header = ParseHeader(text, name);
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      layout.metadata = ParseMetadata(value, name);
    } else {
      tensors.push_back(ParseEntry(key, value, content, name));
    }
  }
  std::sort(tensors.begin(), tensors.end(), [](const Placed& a, const Placed& b) {
    return std::pair(a.begin, a.entry.bytes) < std::pair(b.begin, b.entry.bytes);
  });
  uint64_t next = 0;
  for (Placed& tensor : tensors) {
    if (tensor.begin != next) {
      Refuse(name, tensor.entry.name + " overlaps another tensor or leaves a hole");
    }
    next += tensor.entry.bytes;
    layout.entries.push_back(std::move(tensor.entry));
  }
  if (next != content) Refuse(name, "bytes after the last tensor");
  return layout;
}

}  // namespace kindred
