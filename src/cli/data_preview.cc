#include "augment/preview.h"
#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "cli/command.h"
#include "privacy/encoding_preview.h"

namespace kindred {
namespace {

struct PreviewFlags {
  std::string out = "preview.png";
  int count = 16;
  bool encodings = false;
  bool force = false;
};

// What InstaHide makes of the images, which are taken as one client's.
CommandResult PreviewEncodings(const Experiment& experiment, const Dataset& dataset,
                               const PreviewFlags& flags) {
  const Images& images = dataset.train.images;
  const int mix = experiment.privacy.mix, count = std::min(images.count, flags.count);
  if (images.count < mix) {
    throw UsageError("{} has {} images, an encoding mixes privacy.mix = {}", dataset.name,
                     images.count, mix);
  }
  const DecodedImage sheet = EncodingSheet(images, dataset.normalization, count, mix,
                                           SeededSecret(experiment.train.seed, 0));
  WriteFileAtomically(flags.out, EncodePng(sheet.pixels, sheet.shape));
  return {fmt::format("{}: {} encodings of {}; a row: the {} images mixed, heaviest first, the "
                      "encoding, its magnitudes\nInstaHide obfuscates, it does not encrypt: such "
                      "encodings have been read back (docs/privacy.md)\n",
                      flags.out, count, dataset.name, mix),
          {{"dataset", dataset.name},
           {"picture", flags.out},
           {"encodings", count},
           {"mix", mix},
           {"width", sheet.shape.width},
           {"height", sheet.shape.height}}};
}

CommandResult Preview(const ConfigFlags& config, const PreviewFlags& flags) {
  RefuseToOverwrite(flags.out, flags.force);
  const Resolved resolved = Resolve(config);
  const Experiment& experiment = *resolved.experiment;
  const Dataset dataset = LoadDataset(experiment.data);
  if (flags.encodings) return PreviewEncodings(experiment, dataset, flags);
  const Images& images = dataset.train.images;
  Rng rng({.seed = experiment.train.seed, .purpose = Purpose::kPreview});
  auto samples = rng.Permutation(images.count);
  samples.resize(static_cast<size_t>(std::min(images.count, flags.count)));
  const DecodedImage sheet = PreviewSheet(
      images, samples, {experiment.views, dataset.normalization}, experiment.train.seed);
  WriteFileAtomically(flags.out, EncodePng(sheet.pixels, sheet.shape));
  CommandResult result;
  result.text = fmt::format("{}: {} images of {}; beside each, two random views of it\n", flags.out,
                            samples.size(), dataset.name);
  result.json = {{"dataset", dataset.name},
                 {"picture", flags.out},
                 {"samples", samples},
                 {"width", sheet.shape.width},
                 {"height", sheet.shape.height}};
  return result;
}

}  // namespace

void AddDataPreview(CLI::App& data, Program& program) {
  auto config = std::make_shared<ConfigFlags>();
  auto flags = std::make_shared<PreviewFlags>();
  CLI::App* command =
      AddCommand(data, program, "preview", "A PNG sheet: images, each with two random views",
                 [config, flags] { return Preview(*config, *flags); });
  AddConfigFlags(*command, *config);
  AddDatasetWords(*command, *config);
  command->add_option("--out", flags->out, "the PNG file")->capture_default_str();
  command->add_option("--count", flags->count, "how many images")
      ->capture_default_str()
      ->check(CLI::Range(1, 200));
  command->add_flag("--encodings", flags->encodings, "what InstaHide makes of the images instead");
  command->add_flag("--force", flags->force, "replace a file that is there");
}

}  // namespace kindred
