#include "aggregate/rule_kinds.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace kindred {
namespace {

constexpr RuleKind kKinds[] = {
    {"mean", "McMahan et al., AISTATS 2017",
     "the mean weighted by images, exact; one hostile client moves it at will", false,
     [](const RuleOptions&) { return 1; }},
    {"median", "Yin et al., ICML 2018", "each value's median over the clients, unweighted", true,
     [](const RuleOptions&) { return 3; }},
    {"trimmed", "Yin et al., ICML 2018",
     "each value's mean without the server.trim largest and smallest, unweighted", true,
     [](const RuleOptions&) { return 3; }},
    {"krum", "Blanchard et al., NeurIPS 2017",
     "the one client's model that is nearest to most others; server.byzantine may be hostile", true,
     [](const RuleOptions& options) { return 2 * options.byzantine + 3; }},
};

}  // namespace

void Bind(Config& config, RuleOptions& options) {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  config.Bind("server.rule", &options.rule,
              "how updates become one model; `kindred list rules` names the rules",
              {.choices = names});
  config.Bind("server.trim", &options.trim,
              "trimmed: share of the clients left out at each end, rounded up",
              {.least = 0, .most = 0.49});
  config.Bind("server.byzantine", &options.byzantine,
              "krum: f, clients that may be hostile; a round needs 2 f + 3",
              {.least = 0, .most = 1e6});
}

std::span<const RuleKind> RuleKinds() { return kKinds; }

const RuleKind& RuleNamed(const std::string& name) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const RuleKind& each) { return each.name == name; });
  if (kind == std::end(kKinds)) throw UsageError("server.rule = {}: no such rule", Printable(name));
  return *kind;
}

}  // namespace kindred
