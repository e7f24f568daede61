// The configuration, as a file and as --set: what `config show` prints of an accepted one is read
// as the same one.
#include "run/experiment.h"
#include "tests/fuzz/target.h"

namespace kindred {
namespace {

// What `apply` makes of the defaults, as it is printed; nullopt: it was refused.
template <class Apply>
std::optional<Config> Resolve(Experiment& experiment, const Apply& apply) {
  return Accepted([&] {
    Config config = BindExperiment(experiment);
    apply(config);
    Validate(experiment.data);
    Validate(experiment.views);
    return config;
  });
}

void CheckPrints(const Config& config) {
  Experiment experiment;
  const std::string toml = config.ToToml();
  const auto again = Resolve(experiment, [&](Config& read) { read.ApplyText(toml, "printed"); });
  Require(again.has_value(), "what is printed is refused");
  Require(again->ToJson() == config.ToJson(), "another configuration is read");
  Require(TomlToJson(toml).has_value(), "what is printed is no TOML for the page");
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  Experiment from_file, from_set;
  if (const auto config =
          Resolve(from_file, [&](Config& read) { read.ApplyText(AsText(input), "input"); })) {
    CheckPrints(*config);
  }
  if (const auto config =
          Resolve(from_set, [&](Config& read) { read.ApplyAssignment(AsText(input)); })) {
    CheckPrints(*config);
  }
}

}  // namespace kindred
