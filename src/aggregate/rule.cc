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
  Bytes Part() const override { return mean_.Part(); }
  void Merge(const Bytes& part) override { mean_.Merge(part); }
  NamedTensors Finish() override { return mean_.Finish(); }

 private:
  WeightedMean mean_;
};

// How each rule of the table in rule_kinds.cc is made.
struct Maker {
  const char* name;
  std::unique_ptr<Aggregate> (*make)(const RuleOptions& options);
};

constexpr Maker kMakers[] = {
    {"mean",
     [](const RuleOptions&) -> std::unique_ptr<Aggregate> { return std::make_unique<MeanRule>(); }},
    {"median",
     [](const RuleOptions&) -> std::unique_ptr<Aggregate> { return std::make_unique<Median>(); }},
    {"trimmed",
     [](const RuleOptions& options) -> std::unique_ptr<Aggregate> {
       return std::make_unique<TrimmedMean>(options.trim);
     }},
    {"krum",
     [](const RuleOptions& options) -> std::unique_ptr<Aggregate> {
       return std::make_unique<Krum>(options.byzantine);
     }},
};

}  // namespace

void CheckRule(const RuleOptions& options, int clients) {
  const int least = RuleNamed(options.rule).least_clients(options);
  if (clients < least) {
    throw UsageError(
        "server.rule = {}: needs {} clients per round, but there are {}; ask more of them{}, or "
        "take "
        "another rule",
        options.rule, least, clients, options.rule == "krum" ? ", lower server.byzantine" : "");
  }
}

std::unique_ptr<Aggregate> MakeRule(const RuleOptions& options) {
  const std::string name = RuleNamed(options.rule).name;
  const auto maker = std::find_if(std::begin(kMakers), std::end(kMakers),
                                  [&](const Maker& each) { return each.name == name; });
  Check(maker != std::end(kMakers), "a rule of the table has a maker");
  return maker->make(options);
}

}  // namespace kindred
