// Counter-based randomness (SPEC: Philox): a draw is a function of what it is for, never of when it
// was made, so threads, order and restarts cannot change it.
#pragma once

#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"

namespace kindred {

// What a stream of numbers is drawn for. A new use takes a new number; numbers are never reused.
enum class Purpose : uint64_t {
  kShapes = 1,
  kPartition = 2,
  kViews = 3,
  kPreview = 4,
  kInit = 5,
  kOrder = 6,
  kShuffleKeys = 7,
  kParticipation = 8,
  kCandidates = 9,
  kRemote = 10,
  kMixViews = 11,  // no longer drawn
  kHoldOut = 12,
  kLabeled = 13,
  kEvalViews = 14,
  kEvalOrder = 15,
  kCentroids = 16,
  kBaseOrder = 17,
  kBaseViews = 18,
  kAlignment = 19
};

// Names one stream. Two different keys give independent streams.
struct RngKey {
  uint64_t seed = 0;
  Purpose purpose;
  uint32_t round = 0;
  uint32_t client = 0;  // place in the enrolment list
  uint32_t epoch = 0;
  uint64_t sample = 0;  // position in the client's own data
  uint32_t part = 0;    // of the sample's draws, such as its first or second view
};

// Numbers drawn from a stream of random bits: `Stream` has operator() for 64 of them.
template <class Stream>
class Draws {
 public:
  using result_type = uint64_t;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }

  // Uniform in [0, 1), a multiple of 2^-53.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Uniform in [low, high).
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }

  // True with probability p.
  bool Chance(double p) { return Uniform() < p; }

  // Normal with mean 0 and deviation 1 (Box and Muller, one of the pair).
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log1p(-Uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * Uniform());
  }

  // Uniform in {0, ..., n - 1} without bias (Lemire's multiplication with rejection). n > 0.
  uint64_t Below(uint64_t n) {
    Check(n > 0, "Below needs a positive bound");
    using Wide = unsigned __int128;
    Wide product = Wide{Next()} * n;
    if (static_cast<uint64_t>(product) < n) {
      const uint64_t threshold = (0 - n) % n;
      while (static_cast<uint64_t>(product) < threshold) product = Wide{Next()} * n;
    }
    return static_cast<uint64_t>(product >> 64);
  }

  // Puts the items into a uniformly random order.
  template <class T>
  void Shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

  // 0, ..., n - 1 in a uniformly random order.
  std::vector<int> Permutation(int n) {
    std::vector<int> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    Shuffle(std::span(order));
    return order;
  }

  // `count` different numbers of {0, ..., n - 1}, each set equally likely, in rising order (Floyd's
  // algorithm: the cost does not grow with n). 0 <= count <= n.
  std::vector<int64_t> Sample(int64_t n, int64_t count) {
    Check(0 <= count && count <= n, "a sample larger than what it is drawn from");
    std::unordered_set<int64_t> chosen;
    chosen.reserve(static_cast<size_t>(count));
    for (int64_t last = n - count; last < n; ++last) {
      const auto drawn = static_cast<int64_t>(Below(static_cast<uint64_t>(last) + 1));
      if (!chosen.insert(drawn).second) chosen.insert(last);
    }
    std::vector<int64_t> sample(chosen.begin(), chosen.end());
    std::sort(sample.begin(), sample.end());
    return sample;
  }

 private:
  uint64_t Next() { return static_cast<Stream&>(*this)(); }
};

// The stream of a key. A value: copying it forks nothing, both copies give the same numbers.
class Rng : public Draws<Rng> {
 public:
  explicit Rng(const RngKey& key)
      : key_{{key.seed, static_cast<uint64_t>(key.purpose)}},
        counter_{{0, key.sample, uint64_t{key.round} << 32 | key.epoch,
                  uint64_t{key.part} << 32 | key.client}} {}

  // 64 random bits. With min and max, Rng can drive <random>'s distributions.
  uint64_t operator()() {
    if (next_ == block_.size()) {
      const auto block = r123::Philox4x64{}(counter_, key_);
      for (size_t i = 0; i < block_.size(); ++i) block_[i] = block[i];
      ++counter_[0];
      next_ = 0;
    }
    return block_[next_++];
  }

 private:
  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
  std::array<uint64_t, 4> block_{};
  size_t next_ = 4;  // all used: the first call makes a block
};

}  // namespace kindred
