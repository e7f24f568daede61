// What a client says of its round beside its model and its features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace kindred {

// What a report may have at most: it comes from outside.
inline constexpr size_t kMostMetrics = 64, kLongestMetricName = 64;

// The same for every way that it travels.
struct ClientReport {
  int64_t images = 0;  // |D_c|: the weight of the average
  double loss = 0;     // mean over the round's steps
  int64_t steps = 0;
  int64_t seen = 0;  // images that went through training, an epoch's drop-outs left out
  std::map<std::string, double> metrics;  // the method's numbers about the round
};

}  // namespace kindred
