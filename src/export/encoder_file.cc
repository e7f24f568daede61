#include "export/encoder_file.h"

#include "base/error.h"
#include "model/safetensors.h"
#include "privacy/privacy_options.h"

namespace kindred {

namespace {

// Of what a header says about an encoder's origin, the fields that are known, of their kind and of
// a sane length: bytes from outside are hostile.
Json SoundOrigin(const std::string& text) {
  constexpr size_t kMostText = 1 << 16, kMostField = 256;
  constexpr int kMostDepth = 3;
  if (text.size() > kMostText) return Json::object();
  const Json parsed = Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kMostDepth; }, false);
  Json sound = Json::object();
  if (!parsed.is_object()) return sound;
  const auto keep_text = [&](const Json& from, const char* key, Json& to) {
    if (from.contains(key) && from[key].is_string() &&
        from[key].get_ref<const std::string&>().size() <= kMostField) {
      to[key] = Printable(from[key].get<std::string>());
    }
  };
  const auto keep_number = [&](const Json& from, const char* key, Json& to) {
    if (from.contains(key) && from[key].is_number_integer()) to[key] = from[key];
  };
  for (const char* key : {"method", "dataset", "scheme", "run"}) keep_text(parsed, key, sound);
  for (const char* key : {"rounds", "round", "epochs", "seed", "clients"}) {
    keep_number(parsed, key, sound);
  }
  if (parsed.contains("simulated") && parsed["simulated"].is_boolean()) {
    sound["simulated"] = parsed["simulated"];
  }
  if (parsed.contains("shared_features") && parsed["shared_features"].is_object()) {
    const auto privacy = PrivacyOptionsIn(parsed["shared_features"]);
    sound["shared_features"] = privacy ? ToJson(*privacy) : Json::object();
  }
  for (const char* key :
       {"config_hash", "train_data_hash", "train_partition_hash", "encoder_digest"}) {
    keep_text(parsed, key, sound);
  }
  return sound;
}

}  // namespace

Bytes SerializeEncoder(const EncoderFile& content) {
  return SerializeSafetensors({content.encoder.tensors,
                               {{"format", "pt"},  // what other readers look for
                                {"kindred_input", content.encoder.input.ToText()},
                                {"kindred_origin", content.origin.dump()}}});
}

EncoderFile ReadEncoderFile(const std::filesystem::path& path) {
  constexpr uint64_t kMost = uint64_t{1} << 32;
  const std::string name = path.string();
  Safetensors content = ParseSafetensors(ReadFile(path, kMost), name);
  const auto input = content.metadata.find("kindred_input");
  if (input == content.metadata.end()) {
    throw DataError(
        "{}: not an encoder that `kindred export` wrote; a checkpoint is taken where it lies "
        "in its run",
        Printable(name));
  }
  EncoderFile file;
  file.encoder =
      EncoderOf(std::move(content.tensors), EncoderInput::FromText(input->second, name), name);
  const auto origin = content.metadata.find("kindred_origin");
  file.origin = origin == content.metadata.end() ? Json::object() : SoundOrigin(origin->second);
  return file;
}

}  // namespace kindred
