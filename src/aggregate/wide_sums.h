// Exact sums of weighted floats: many numbers of 128 bits, each a whole multiple of 2^-80.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

class WideSums {
 public:
  static constexpr int kFraction = 80;  // bits below the point

  WideSums() = default;
  explicit WideSums(size_t size) : low_(size), high_(size) {}

  size_t size() const { return low_.size(); }

  // Adds value x weight to each: exact for values from 2^-57 up, which are below 2^20; the others
  // are cut towards zero first. The weights added sum to less than 2^26.
  void Add(std::span<const float> values, uint32_t weight);

  // The halves of each number, for sums in another process,
  std::span<const uint64_t> Low() const { return low_; }
  std::span<const uint64_t> High() const { return high_; }
  // which adds them to its own of this size.
  void Add(std::span<const uint64_t> low, std::span<const uint64_t> high);

  __int128 At(size_t i) const {
    return static_cast<__int128>(static_cast<unsigned __int128>(high_[i]) << 64 | low_[i]);
  }

 private:
  // Two's complement, its halves apart so that several numbers are added at a time.
  std::vector<uint64_t> low_, high_;
};

}  // namespace kindred
