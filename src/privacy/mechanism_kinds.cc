#include "privacy/mechanism_kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace kindred {
namespace {

constexpr const char* kMixSays = " (privacy.mix)";

int ImagesPerMix(const PrivacyOptions& options) { return options.mix; }

std::vector<Mix> MixesOf(const PrivacyOptions& options, const RowsAsked& asked) {
  return DrawMixes(asked.images, asked.count, options.mix, asked.secret, asked.round);
}

std::vector<Mix> FirstOfMixes(const PrivacyOptions& options, const RowsAsked& asked) {
  std::vector<Mix> rows = MixesOf(options, asked);
  for (Mix& row : rows) row = {{row.images[0]}, {1.0}};
  return rows;
}

constexpr MechanismKind kKinds[] = {
    {.name = "encoded",
     .summary = "features of InstaHide encodings",
     .travels = true,
     .unit_rows = true,
     .least_images = ImagesPerMix,
     .least_says = kMixSays,
     .made_of = MixesOf,
     .sentence =
         [](const PrivacyOptions& options) {
           return fmt::format(
               "Clients shared features of InstaHide encodings, each a mix of {} images. InstaHide "
               "is obfuscation that has been broken (Carlini et al. 2021), not encryption.",
               options.mix);
         }},
    {.name = "plain",
     .summary = "features of plain images, in a simulation only",
     .travels = false,
     .unit_rows = true,
     .least_images = ImagesPerMix,  // as many clients as could share encodings: for comparison
     .least_says = kMixSays,
     .made_of = FirstOfMixes,
     .sentence =
         [](const PrivacyOptions&) {
           return std::string(
               "Clients shared features of plain images (a simulation, for comparison): do not do "
               "that with images that are private.");
         }},
};

}  // namespace

std::span<const MechanismKind> MechanismKinds() { return kKinds; }

const MechanismKind& MechanismOf(const PrivacyOptions& options) {
  const auto at = std::ranges::find_if(
      kKinds, [&](const MechanismKind& kind) { return kind.name == options.features; });
  if (at == std::end(kKinds)) {
    throw UsageError("privacy.features = {}: no such mechanism", Printable(options.features));
  }
  return *at;
}

void CheckTravels(const PrivacyOptions& options) {
  const MechanismKind& kind = MechanismOf(options);
  if (kind.travels) return;
  throw UsageError(
      "privacy.features = {}: {}; they do not travel. Take another, or `kindred train`", kind.name,
      kind.summary);
}

std::optional<std::string> TooFewImages(const PrivacyOptions& options, int64_t images) {
  const MechanismKind& kind = MechanismOf(options);
  const int least = kind.least_images(options);
  if (images >= least) return std::nullopt;
  return fmt::format("{} images, privacy.features = {} needs {}{}", images, kind.name, least,
                     kind.least_says);
}

}  // namespace kindred
