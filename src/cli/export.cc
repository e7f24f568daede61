// `kindred export`: the encoder for other tools, with a card that says what it is.
#include "cli/command.h"
#include "cli/learning_library.h"

namespace kindred {

void AddExportCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command =
      AddCommand(app, program, "export", "The encoder as safetensors and ONNX, with a model card",
                 [flags] { return LoadLearning().export_encoder(*flags); });
  AddEncoderFlags(*command, flags->encoder, false);
  command->add_option("--out", flags->out, "the folder; default: the run's exported/");
  command
      ->add_option("--input", flags->input, "what the ONNX model takes: float in [0, 1], or uint8")
      ->check(CLI::IsMember({"float", "uint8"}))
      ->capture_default_str();
  command->add_option("--license", flags->license, "of the weights, for the card");
  command->add_flag("--force", flags->force, "replace files that are there");
}

}  // namespace kindred
