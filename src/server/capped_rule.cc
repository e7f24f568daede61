#include "server/capped_rule.h"

#include <torch/torch.h>

#include <utility>

#include "base/error.h"

namespace kindred {

CappedRule::CappedRule(std::unique_ptr<Aggregate> rule, const ShareLimits& limits,
                       std::set<int> claims)
    : rule_(std::move(rule)), limits_(limits), claims_(std::move(claims)) {}

void CappedRule::Add(int client, NamedTensors model, int64_t weight) {
  images_.emplace(client, weight);
  try {
    Place(client, std::move(model), weight);
  } catch (...) {
    images_.erase(client);  // as if it had not come
    throw;
  }
}

void CappedRule::Place(int client, NamedTensors model, int64_t weight) {
  const auto most = static_cast<size_t>(MostCut(limits_));
  if (held_.size() >= most && (most == 0 || weight <= held_.begin()->first)) {
    rule_->Add(client, std::move(model), weight);
    return;
  }
  for (auto& [name, tensor] : model) tensor = tensor.clone();  // an upload's bytes go
  const auto added = held_.insert({weight, {client, std::move(model)}});
  if (held_.size() <= most) return;
  const auto least = held_.begin();
  try {
    rule_->Add(least->second.client, least->second.model, least->first);
  } catch (...) {
    held_.erase(added);
    throw;
  }
  held_.erase(least);
}

NamedTensors CappedRule::Finish() {
  const auto weights = CappedWeights(images_, limits_, claims_);
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
