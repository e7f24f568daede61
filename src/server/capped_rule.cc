#include "server/capped_rule.h"

#include <torch/torch.h>

#include <utility>

#include "base/error.h"

namespace kindred {

CappedRule::CappedRule(std::unique_ptr<Aggregate> rule, const ShareLimits& limits,
                       std::function<bool(int client)> is_claim)
    : rule_(std::move(rule)), limits_(limits), is_claim_(std::move(is_claim)) {}

void CappedRule::Add(int client, NamedTensors model, int64_t weight) {
  const auto most = static_cast<size_t>(MostCut(limits_));
  if (held_.size() >= most && (most == 0 || weight <= held_.begin()->first)) {
    rule_->Add(client, std::move(model), weight);
  } else {
    for (auto& [name, tensor] : model) tensor = tensor.clone();  // an upload's bytes go
    const auto added = held_.insert({weight, {client, std::move(model)}});
    if (held_.size() > most) {
      Held& least = held_.begin()->second;
      try {
        rule_->Add(least.client, least.model, held_.begin()->first);
      } catch (...) {
        held_.erase(added);  // as if it had not come
        throw;
      }
      held_.erase(held_.begin());
    }
  }
  images_[client] = weight;
}

NamedTensors CappedRule::Finish() {
  std::set<int> claims;
  for (const auto& [client, images] : images_) {
    if (is_claim_(client)) claims.insert(client);
  }
  const auto weights = CappedWeights(images_, limits_, claims);
  for (auto& [images, held] : held_) {
    rule_->Add(held.client, std::move(held.model), weights.at(held.client));
  }
  held_.clear();
  for (const auto& [client, weight] : weights) {
    if (weight != images_.at(client)) cut_[client] = weight;
  }
  return rule_->Finish();
}

Bytes CappedRule::Part() const {
  Check(false, "a capped rule is of one process");
  return {};
}
void CappedRule::Merge(const Bytes&) { Check(false, "a capped rule is of one process"); }

}  // namespace kindred
