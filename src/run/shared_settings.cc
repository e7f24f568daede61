#include "run/shared_settings.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json_text.h"
#include "method/method_kinds.h"
#include "privacy/mechanism_kinds.h"

namespace kindred {

void ApplySettings(const std::vector<std::string>& settings, const Experiment& experiment,
                   Config& config) {
  constexpr size_t kMostSettings = 1000, kMostSetting = 4096;
  if (settings.size() > kMostSettings)
    throw NetworkError("the coordinator sends too many settings");
  std::set<std::string> seen, own;
  for (const auto& setting : config.ForClients()) {
    own.insert(setting.substr(0, setting.find(" = ")));
  }
  for (const auto& setting : settings) {
    const auto equals = setting.find(" = ");
    const std::string key = setting.substr(0, equals);
    if (equals == std::string::npos || setting.size() > kMostSetting || !own.contains(key) ||
        !seen.insert(key).second) {
      throw NetworkError("the coordinator sends {}, which a coordinator may not set",
                         Printable(setting));
    }
    const Json value = ParseJson(std::string_view(setting).substr(equals + 3));
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
  // Of all that the method reads, sent or not: a default may be beyond a limit, too.
  std::set<std::string> read = own;
  for (const auto& table : TablesOfOthers(experiment.method.name)) {
    std::erase_if(read, [&](const std::string& key) { return key.starts_with(table + "."); });
  }
  if (const auto excess = config.BeyondLimits(read)) {
    throw NetworkError("the coordinator sets {} = {}, {} {} {}", excess->key, excess->value,
                       excess->limit, excess->below ? "asks for" : "allows", excess->bound);
  }
  if (const MechanismKind& kind = MechanismOf(experiment.privacy); !kind.travels) {
    throw NetworkError("the coordinator asks for {}; they do not leave here", kind.summary);
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
