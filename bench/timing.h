// How the benchmarks time and compare.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace kindred {

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace kindred
