#include "run/shared_settings.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"

namespace kindred {

namespace {

// Whether the coordinator sends this setting to its clients; the others are each side's own.
bool IsShared(const std::string& setting) {
  for (const char* own : {"data.", "partition.", "eval.", "server.", "client.", "features.max_"}) {
    if (setting.starts_with(own)) return false;
  }
  return !setting.substr(0, setting.find(' ')).ends_with("path");  // a path is of one machine
}

// Throws when a method's own setting, as it was understood, is beyond what the client allows.
void CheckNumber(const std::string& setting, const JoinOptions& join) {
  // Looked at one by one; of [features] what its own ranges allow is harmless.
  for (const char* section : {"train.", "model.", "views.", "privacy.", "features."}) {
    if (setting.starts_with(section)) return;
  }
  const auto equals = setting.find(" = ");
  const std::string key = setting.substr(0, equals);
  const Json value = Json::parse(setting.substr(equals + 3), nullptr, false);
  const int most = key.ends_with("epochs") ? join.max_epochs : join.max_number;
  if (value.is_number() && value.get<double>() > most) {
    throw NetworkError("the coordinator sets {} = {}, {} allows {}", Printable(key), value.dump(),
                       key.ends_with("epochs") ? "client.max_epochs" : "client.max_number", most);
  }
}

}  // namespace

std::vector<std::string> SharedSettings(const Config& config) {
  std::vector<std::string> settings;
  for (const auto& setting : config.ResultKeys()) {
    if (IsShared(setting)) settings.push_back(setting);
  }
  return settings;
}

void ApplySettings(const std::vector<std::string>& settings, const Experiment& experiment,
                   Config& config) {
  constexpr size_t kMostSettings = 1000, kMostSetting = 4096;
  if (settings.size() > kMostSettings)
    throw NetworkError("the coordinator sends too many settings");
  std::set<std::string> seen, own;
  for (const auto& setting : SharedSettings(config)) {
    own.insert(setting.substr(0, setting.find(" = ")));
  }
  for (const auto& setting : settings) {
    const auto equals = setting.find(" = ");
    const std::string key = setting.substr(0, equals);
    if (equals == std::string::npos || setting.size() > kMostSetting || !own.contains(key) ||
        !seen.insert(key).second) {
      throw NetworkError("the coordinator sends {}, which is not its to set", Printable(setting));
    }
    const Json value = Json::parse(setting.substr(equals + 3), nullptr, false);
    if (value.is_discarded()) {
      throw NetworkError("the coordinator sends {}, which cannot be read", Printable(setting));
    }
    try {
      config.Apply(key, value.is_string() ? value.get<std::string>() : value.dump(),
                   "the coordinator");
    } catch (const Error& error) {
      throw NetworkError("the coordinator's settings do not fit this version of kindred: {}",
                         error.what());
    }
  }
  const JoinOptions& join = experiment.join;
  for (const auto& setting : SharedSettings(config)) {
    if (seen.contains(setting.substr(0, setting.find(" = ")))) CheckNumber(setting, join);
  }
  const auto within = [](const char* key, int value, const char* limit, int most) {
    if (value > most) {
      throw NetworkError("the coordinator sets {} = {}, {} allows {}", key, value, limit, most);
    }
  };
  within("train.epochs", experiment.train.epochs, "client.max_epochs", join.max_epochs);
  within("train.batch", experiment.train.batch, "client.max_batch", join.max_batch);
  within("model.width", experiment.model.width, "client.max_width", join.max_width);
  within("model.dim", experiment.model.dim, "client.max_dim", join.max_dim);
  if (experiment.privacy.features != "encoded") {
    throw NetworkError("the coordinator asks for features of plain images; they do not leave here");
  }
  if (experiment.privacy.mix < join.min_mix) {
    throw NetworkError("the coordinator sets privacy.mix = {}, client.min_mix asks for {}",
                       experiment.privacy.mix, join.min_mix);
  }
}

EncoderInput OfferedInput(const std::string& text, const Experiment& experiment) {
  EncoderInput input;
  try {
    input = EncoderInput::FromText(text, "the coordinator's greeting");
  } catch (const Error& error) {
    throw NetworkError("{}", error.what());
  }
  const int side = std::max(input.shape.height, input.shape.width);
  if (side > experiment.join.max_side) {
    throw NetworkError("the coordinator asks for images of side {}, client.max_side allows {}",
                       side, experiment.join.max_side);
  }
  return input;
}

}  // namespace kindred
