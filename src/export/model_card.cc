#include "export/model_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "privacy/mechanism_kinds.h"

namespace kindred {
namespace {

std::string Value(const Json& json, const char* key) {
  if (!json.contains(key)) return "not recorded";
  const Json& value = json[key];
  const std::string text = Printable(value.is_string() ? value.get<std::string>() : value.dump());
  std::string safe;  // in a table of Markdown
  for (const char c : text) {
    if (c == '|' || c == '`') safe += '\\';
    safe += c == '<' ? "&lt;" : std::string(1, c);
  }
  return safe;
}

std::string MetricsText(const ModelCard& card) {
  if (card.metrics.empty()) return "None recorded; `kindred eval` measures and records them.\n";
  std::string text =
      "| metric | protocol | data | images, test images | accuracy |\n|---|---|---|---|---|\n";
  for (const auto& line : card.metrics) {
    const bool knn = line.contains("knn");
    const Json& accuracy = knn ? line["knn"] : line["accuracy"];
    if (!accuracy.is_number()) continue;
    const double deviation = line.value("deviation", 0.0);
    text += fmt::format("| {} | {} | {} | {} | {:.2f} %{} |\n", knn ? "knn" : Value(line, "metric"),
                        knn ? "monitor of training" : Value(line, "protocol"),
                        knn ? Value(card.origin, "dataset") : Value(line, "dataset"),
                        knn ? "-" : Value(line, "train_images") + ", " + Value(line, "test_images"),
                        100 * accuracy.get<double>(),
                        deviation > 0 ? fmt::format(" +- {:.2f}", 100 * deviation) : "");
  }
  return text;
}

// Whose images it was trained on.
std::string Data(const Json& origin) {
  if (origin.value("simulated", true)) {
    const std::string clients = origin.contains("clients") ? Value(origin, "clients") + " " : "";
    return fmt::format("{}, dealt to {}clients by `{}`", Value(origin, "dataset"), clients,
                       Value(origin, "scheme"));
  }
  return fmt::format("images of {} owners, in a federation over a network",
                     origin.contains("clients") ? Value(origin, "clients") : "several");
}

// What it can be traced back by, a row of the table.
std::string Provenance(const Json& origin) {
  if (origin.value("simulated", true)) {
    return fmt::format("| configuration, data, partition | `{}` `{}` `{}` |\n",
                       Value(origin, "config_hash"), Value(origin, "train_data_hash"),
                       Value(origin, "train_partition_hash"));
  }
  return fmt::format("| run | `{}` |\n{}", Value(origin, "run"),
                     origin.contains("config_hash")
                         ? fmt::format("| configuration | `{}` |\n", Value(origin, "config_hash"))
                         : "");
}

std::string Privacy(const ModelCard& card) {
  std::string text = card.origin.value("simulated", true)
                         ? "Trained in a simulation: one process held the images of all clients.\n"
                         : "Images stayed with their owners; models were averaged.\n";
  text +=
      "There is no formal guarantee: trained weights can reveal things about the images they were\n"
      "trained on.\n";
  if (Value(card.origin, "method") == "supervised") text += "Labels were used in training.\n";
  const auto shared = card.origin.find("shared_features");
  if (shared == card.origin.end()) return text;
  const auto options = PrivacyOptionsIn(*shared);
  if (!options) return text + "What features clients shared is not known.\n";
  return text + MechanismOf(*options).sentence(*options) + "\n";
}

}  // namespace

std::string ModelCardText(const ModelCard& card) {
  const Encoder& encoder = card.encoder;
  const auto& [shape, normalization] = encoder.input;
  const auto channels = static_cast<size_t>(shape.channels);
  const std::span mean(normalization.mean.data(), channels),
      std(normalization.std.data(), channels);
  return fmt::format(
             "# An image encoder trained with Kindred\n\n"
             "A {} of width {} for {}x{} images with {} channels; an image becomes {} numbers, "
             "h.\n\n"
             "| | |\n|---|---|\n"
             "| method | {}{} |\n| data | {} |\n| rounds | {} of {}, "
             "{} "
             "local epochs "
             "each |\n| seed | {} |\n"
             "| encoder digest | `{}` |\n{}\n",
             encoder.model.arch, encoder.model.width, shape.height, shape.width, shape.channels,
             8 * encoder.model.width, Value(card.origin, "method"),
             card.origin.contains("method_note") ? ": " + Value(card.origin, "method_note") : "",
             Data(card.origin), Value(card.origin, "round"), Value(card.origin, "rounds"),
             Value(card.origin, "epochs"), Value(card.origin, "seed"),
             Value(card.origin, "encoder_digest"), Provenance(card.origin)) +
         fmt::format(
             "## Use\n\n"
             "- `encoder.safetensors`: the weights by torchvision's names. Pixels in [0, 1] are\n"
             "  normalised first: mean [{}], std [{}].\n"
             "- `encoder.onnx`: input `images`, [batch, {}, {}, {}] {}; output `h`. It normalises "
             "by "
             "itself.\n"
             "- `kindred eval`, `kindred embed` take this folder: `--run FOLDER`.\n\n",
             fmt::join(mean, ", "), fmt::join(std, ", "), shape.channels, shape.height, shape.width,
             card.onnx_input == "uint8" ? "uint8" : "float32 in [0, 1]") +
         "## Metrics\n\n" + MetricsText(card) + "\n## Privacy\n\n" + Privacy(card) +
         "\n## Licence\n\n" +
         (card.license.empty()
              ? "Not stated. The images' own terms may bind what is made of them.\n"
              : Printable(card.license) + "\n");
}

}  // namespace kindred
