#include "server/round_intake.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "aggregate/weighted_mean.h"
#include "base/error.h"
#include "model/distance.h"
#include "server/capped_rule.h"
#include "server/capped_weights.h"
#include "wire/wire.h"

namespace kindred {
namespace {

using Value = nlohmann::json;

// Features as bytes: both processes are of one program, so the machine's own floats will do.
Value ToValue(const Arrival& arrival) {
  const ClientReport& report = arrival.report;
  Value value = {{"client", arrival.client}, {"images", report.images}, {"loss", report.loss},
                 {"steps", report.steps},    {"seen", report.seen},     {"rows", 0},
                 {"metrics", report.metrics}};
  if (arrival.features.defined()) {
    const Content content(arrival.features, Precision::kFloat);
    Bytes bytes(content.size());
    content.Read(0, bytes);
    value["rows"] = arrival.features.size(0);
    value["width"] = arrival.features.size(1);
    value["features"] = Value::binary(std::move(bytes));
  }
  return value;
}

Arrival FromValue(const Value& value) {
  Arrival arrival = {.client = value.at("client"),
                     .model = {},
                     .features = {},
                     .report = {.images = value.at("images"),
                                .loss = value.at("loss"),
                                .steps = value.at("steps"),
                                .seen = value.at("seen"),
                                .metrics = value.at("metrics").get<Metrics>()}};
  if (const int64_t rows = value.at("rows"); rows > 0) {
    arrival.features =
        UnpackRows(value.at("features").get_binary(), rows, value.at("width"), Precision::kFloat);
  }
  return arrival;
}

}  // namespace

RoundIntake::RoundIntake(const RoundLoopOptions& options, const Chosen& chosen,
                         const ServerState& state)
    : options_(options),
      state_(state),
      shared_(state.pool.All()),
      usual_(UsualNow(state.recent, NormOf(state.global),
                      CosineRate(1, chosen.round, options.train.rounds))),
      rule_(MakeRule(options.rule)) {
  if (!options.images_of) return;
  for (const int client : chosen.clients) enrolled_[client] = options.images_of(client);
  weights_ = enrolled_;
  if (!options.claims_of) {
    weights_ = CappedWeights(enrolled_, {.any = options.limits.max_share});
  } else if (!RuleNamed(options.rule.rule).keeps_models) {  // those that do ignore weights
    auto capped = std::make_unique<CappedRule>(std::move(rule_), SharesOf(options.limits),
                                               options.claims_of(chosen.clients));
    capped_ = capped.get();
    rule_ = std::move(capped);
  }
}

std::optional<Refused> RoundIntake::Add(Arrival&& arrival) {
  if (arrivals_.contains(arrival.client))
    return Refused{Refusal::kNumbers, "a second update of a round"};
  const auto enrolled = enrolled_.find(arrival.client);
  if (options_.images_of && enrolled == enrolled_.end())
    return Refused{Refusal::kNumbers, "of a client not asked"};
  const UpdateLimits limits = {.global = state_.global,
                               .enrolled = options_.images_of ? enrolled->second : 0,
                               .most_images = WeightedMean::kMostWeight - 1 - weight_,
                               .epochs = options_.train.epochs,
                               .batch = options_.train.batch,
                               .metrics = options_.metrics.empty() ? nullptr : &options_.metrics,
                               .max_norm = options_.limits.max_norm,
                               .norm_ratio = options_.limits.norm_ratio,
                               .usual = usual_,
                               .features_width = options_.features_width,
                               .features_most = options_.features_most,
                               .unit_rows = options_.unit_rows,
                               .shared = &shared_};
  double norm = 0;
  if (auto why = CheckUpdate(arrival, limits, &norm)) return why;
  const int client = arrival.client;
  const int64_t images = arrival.report.images;
  NamedTensors model = std::exchange(arrival.model, {});
  arrivals_.emplace(client, std::move(arrival));
  try {
    norms_[client] = norm;
    rule_->Add(client, std::move(model), options_.images_of ? weights_.at(client) : images);
  } catch (...) {  // no memory for it: as if it had not come
    arrivals_.erase(client);
    norms_.erase(client);
    throw;
  }
  weight_ += images;
  return std::nullopt;
}

IntakePart RoundIntake::Part() const {
  Value reports = Value::array();
  for (const auto& [client, arrival] : arrivals_) {
    reports.push_back(ToValue(arrival));
    reports.back()["norm"] = norms_.at(client);
  }
  return {Value::to_cbor(reports), rule_->Part()};
}

void RoundIntake::Merge(const IntakePart& part) {
  for (const auto& report : Value::from_cbor(part.reports)) {
    Arrival arrival = FromValue(report);
    weight_ += arrival.report.images;
    norms_[arrival.client] = report.at("norm");
    Check(arrivals_.emplace(arrival.client, std::move(arrival)).second, "a client is merged twice");
  }
  if (weight_ >= WeightedMean::kMostWeight) {
    throw UsageError("the clients of a round have {} images, {} is the most", weight_,
                     WeightedMean::kMostWeight - 1);
  }
  rule_->Merge(part.models);
}

UsualDelta RoundIntake::Usual() const {
  std::vector<UsualDelta> updates;
  for (const auto& [client, arrival] : arrivals_) {
    updates.push_back({norms_.at(client), static_cast<double>(arrival.report.steps)});
  }
  return UsualOf(updates);
}

}  // namespace kindred
