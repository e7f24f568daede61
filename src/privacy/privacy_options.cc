#include "privacy/privacy_options.h"

#include "base/error.h"
#include "privacy/mechanism_kinds.h"

namespace kindred {

void Bind(Config& config, PrivacyOptions& options) {
  std::vector<std::string> names;
  std::string meaning = "what others get";
  for (const auto& kind : MechanismKinds()) {
    meaning += (names.empty() ? ": " : "; ") + std::string(kind.name) + ": " + kind.summary;
    names.emplace_back(kind.name);
  }
  config.BindForClients("privacy.features", &options.features, meaning, {.choices = names});
  config.BindForClients("privacy.mix", &options.mix, "k: images mixed into one encoding",
                        {.least = 2, .most = 64, .client_least = "client.min_mix"});
  config.BindForClients(
      "privacy.input", &options.input,
      "what the model sees of an encoding: its values (signed) or their magnitudes",
      {.choices = {"signed", "magnitude"}});
  config.BindForClients(
      "privacy.statistics", &options.statistics,
      "batch norm in the pass that makes shared features: of the batch, or running",
      {.choices = {"running", "batch"}});
}

Json ToJson(const PrivacyOptions& options) {
  PrivacyOptions own = options;
  Config config;
  Bind(config, own);
  return Json::parse(config.ToJson()).at("privacy");
}

std::optional<PrivacyOptions> PrivacyOptionsIn(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  PrivacyOptions options;
  Config config;
  Bind(config, options);
  for (const auto& [key, value] : json.items()) {
    if (!value.is_primitive()) continue;
    try {
      config.Apply("privacy." + key, value.is_string() ? value.get<std::string>() : value.dump(),
                   "a file");
    } catch (const Error&) {
    }
  }
  if (config.OriginOf("privacy.features") == "default") return std::nullopt;
  return options;
}

}  // namespace kindred
