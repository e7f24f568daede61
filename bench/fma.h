// A pure multiply-add loop: how well this machine's cores scale when nothing is shared.
#pragma once

#include <chrono>

#include "base/parallel.h"

namespace kindred {

// Millions of multiply-adds a second on `workers` threads, over about `seconds` each.
inline double FmaRate(int workers, double seconds) {
  std::vector<double> rates(static_cast<size_t>(workers));
  ParallelFor(workers, workers, [&](int, int i) {
    float lanes[64];
    for (int l = 0; l < 64; ++l) lanes[l] = static_cast<float>(l) * 0.01f;
    const auto start = std::chrono::steady_clock::now();
    double elapsed = 0;
    long blocks = 0;
    while (elapsed < seconds) {
      for (int repeat = 0; repeat < 20000; ++repeat) {
        for (float& lane : lanes) lane = lane * 0.999f + 0.001f;
      }
      ++blocks;
      elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    volatile float keep = lanes[17];
    (void)keep;
    rates[static_cast<size_t>(i)] = static_cast<double>(blocks) * 20000 * 64 / elapsed / 1e6;
  });
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace kindred
