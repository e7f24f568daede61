#include "export/encoder_file.h"

#include "base/error.h"
#include "model/safetensors.h"

namespace kindred {

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
    throw DataError("{}: not an encoder that `kindred export` wrote", Printable(name));
  }
  EncoderFile file;
  file.encoder =
      EncoderOf(std::move(content.tensors), EncoderInput::FromText(input->second, name), name);
  const auto origin = content.metadata.find("kindred_origin");
  if (origin != content.metadata.end()) {
    file.origin = Json::parse(origin->second, nullptr, false);
  }
  if (!file.origin.is_object()) file.origin = Json::object();
  return file;
}

}  // namespace kindred
