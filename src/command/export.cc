// `kindred export`: the encoder for other tools, with a card that says what it is.
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/progress.h"
#include "command/learning.h"
#include "command/open_encoder.h"
#include "export/encoder_file.h"
#include "export/model_card.h"
#include "export/onnx_model.h"
#include "model/one_thread.h"
#include "record/metrics.h"

namespace kindred {

CommandResult Export(const ExportFlags& flags) {
  UseOneThread();
  const TrainedEncoder trained = OpenEncoder(flags.encoder, flags.encoder.runs[0]);
  if (flags.out.empty() && !trained.run) {
    throw UsageError("--out: say where to, {} is no run", Printable(trained.path));
  }
  const std::filesystem::path out =
      flags.out.empty() ? trained.run->path() / "exported" : std::filesystem::path(flags.out);
  ModelCard card = {.encoder = trained.encoder,
                    .origin = trained.origin,
                    .license = flags.license,
                    .onnx_input = flags.input};
  if (trained.run) {
    // The newest line of each metric, protocol and dataset that is about this encoder.
    std::map<std::string, Json> newest;
    for (auto& line : ReadMetrics(trained.run->metrics())) {
      const std::string kind = line.value("kind", "");
      if (kind == "knn" && line.value("round", -1) == trained.origin["round"]) newest[""] = line;
      if (kind == "eval" && line.contains("encoder_digest") &&
          line["encoder_digest"] == trained.origin["encoder_digest"]) {
        newest[line.value("metric", "") + line.value("protocol", "") +
               line.value("data_hash", "")] = line;
      }
    }
    for (auto& [about, line] : newest) card.metrics.push_back(std::move(line));
  }
  const std::pair<const char*, Bytes> files[] = {
      {"encoder.safetensors", SerializeEncoder({trained.encoder, trained.origin})},
      {"encoder.onnx",
       OnnxModel(trained.encoder, flags.input == "uint8" ? OnnxInput::kUint8 : OnnxInput::kFloat)}};
  for (const auto& [name, bytes] : files) RefuseToOverwrite(out / name, flags.force);
  RefuseToOverwrite(out / "README.md", flags.force);
  MakeFolder(out);
  CommandResult result;
  result.json = {{"out", out.string()}, {"encoder_digest", trained.origin["encoder_digest"]}};
  for (const auto& [name, bytes] : files) {
    WriteFileAtomically(out / name, bytes);
    result.text += fmt::format("{}  {}\n", (out / name).string(), HumanBytes(bytes.size()));
    result.json["files"].push_back(name);
  }
  WriteFileAtomically(out / "README.md", ModelCardText(card));
  result.text += fmt::format("{}  the model card\n", (out / "README.md").string());
  result.json["files"].push_back("README.md");
  return result;
}

}  // namespace kindred
