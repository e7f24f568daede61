#include "aggregate/rule.h"

#include <algorithm>

#include "aggregate/krum.h"
#include "aggregate/median.h"
#include "aggregate/trimmed_mean.h"
#include "aggregate/weighted_mean.h"
#include "base/error.h"

namespace kindred {
namespace {

class MeanRule : public Aggregate {
 public:
  void Add(int, NamedTensors model, int64_t weight) override { mean_.Add(model, weight); }
  void Collect(Ranks& ranks, const NamedTensors& like) override { mean_.Collect(ranks, like); }
  NamedTensors Take() override { return mean_.Take(); }

 private:
  WeightedMean mean_;
};

constexpr RuleKind kKinds[] = {
    {"mean", "McMahan et al., AISTATS 2017",
     "the mean weighted by images, exact; one hostile client moves it at will", false,
     [](const RuleOptions&) { return 1; },
     [](const RuleOptions&) -> std::unique_ptr<Aggregate> { return std::make_unique<MeanRule>(); }},
    {"median", "Yin et al., ICML 2018", "each value's median over the clients, unweighted", true,
     [](const RuleOptions&) { return 3; },
     [](const RuleOptions&) -> std::unique_ptr<Aggregate> { return std::make_unique<Median>(); }},
    {"trimmed", "Yin et al., ICML 2018",
     "each value's mean without the server.trim largest and smallest, unweighted", true,
     [](const RuleOptions&) { return 3; },
     [](const RuleOptions& options) -> std::unique_ptr<Aggregate> {
       return std::make_unique<TrimmedMean>(options.trim);
     }},
    {"krum", "Blanchard et al., NeurIPS 2017",
     "the one client's model that is nearest to most others; server.byzantine may be hostile", true,
     [](const RuleOptions& options) { return 2 * options.byzantine + 3; },
     [](const RuleOptions& options) -> std::unique_ptr<Aggregate> {
       return std::make_unique<Krum>(options.byzantine);
     }},
};

}  // namespace

void Bind(Config& config, RuleOptions& options) {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  config.Bind("server.rule", &options.rule, "how updates become one model: kindred list rules",
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

void CheckRule(const RuleOptions& options, int clients) {
  const int least = RuleNamed(options.rule).least_clients(options);
  if (clients < least) {
    throw UsageError(
        "server.rule = {}: needs {} clients a round, there are {}; ask more of them{}, or take "
        "another rule",
        options.rule, least, clients, options.rule == "krum" ? ", lower server.byzantine" : "");
  }
}

std::unique_ptr<Aggregate> MakeRule(const RuleOptions& options) {
  return RuleNamed(options.rule).make(options);
}

}  // namespace kindred
