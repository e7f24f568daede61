#include "server/usual_delta.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace kindred {
namespace {

constexpr size_t kRounds = 5;
constexpr double kFloor = 0.05;  // of |theta|

// Of an even number the lower one.
double LowerMedian(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace

UsualDelta UsualOf(const std::vector<UsualDelta>& updates) {
  std::vector<double> norms, steps;
  for (const auto& update : updates) {
    norms.push_back(update.norm);
    steps.push_back(update.steps);
  }
  return {LowerMedian(norms), LowerMedian(steps)};
}

void AddRound(RecentDeltas& recent, const UsualDelta& of_round) {
  recent.push_back(of_round);
  if (recent.size() > kRounds) recent.erase(recent.begin());
}

UsualDelta UsualNow(const RecentDeltas& recent, double model_norm, double lr_share) {
  if (recent.empty()) return {model_norm, 0};
  UsualDelta usual = UsualOf(recent);
  usual.norm = std::max(usual.norm, kFloor * model_norm * std::sqrt(lr_share));
  return usual;
}

std::string DeltasToText(const RecentDeltas& recent) {
  nlohmann::json values = nlohmann::json::array();
  for (const auto& each : recent) values.push_back({each.norm, each.steps});
  return values.dump();
}

RecentDeltas DeltasFromText(const std::string& text) {
  RecentDeltas recent;
  try {
    for (const auto& each : nlohmann::json::parse(text)) {
      recent.push_back({each.at(0).get<double>(), each.at(1).get<double>()});
    }
  } catch (const nlohmann::json::exception&) {
    throw DataError("usual updates: not two numbers per round");
  }
  return recent;
}

}  // namespace kindred
