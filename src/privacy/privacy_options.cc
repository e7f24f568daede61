#include "privacy/privacy_options.h"

namespace kindred {

void Bind(Config& config, PrivacyOptions& options) {
  config.Bind("privacy.features", &options.features,
              "what others get: features of InstaHide encodings, or plain ones (simulation only)",
              {.choices = {"encoded", "plain"}});
  config.Bind("privacy.mix", &options.mix, "k: images mixed in an encoding",
              {.least = 2, .most = 64});
  config.Bind("privacy.input", &options.input,
              "what the model sees of an encoding: its values, or their magnitudes",
              {.choices = {"signed", "magnitude"}});
  config.Bind("privacy.statistics", &options.statistics,
              "batch norm's statistics in the encoding pass", {.choices = {"running", "batch"}});
}

}  // namespace kindred
