#include "aggregate/wide_sums.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/vectorize.h"

namespace kindred {
namespace {

// A float is mantissa x 2^(exponent - 150): a multiple of 2^-80 from this exponent up.
constexpr int32_t kWhole = 150 - WideSums::kFraction;

// No branches: the compiler makes it four numbers at a time. The mantissa is multiplied before it
// is shifted to its place, in 64 bits.
KINDRED_VECTORIZE void AddWeighted(uint64_t* __restrict low, uint64_t* __restrict high,
                                   const float* __restrict values, size_t size, uint32_t weight) {
  for (size_t i = 0; i < size; ++i) {
    const auto bits = std::bit_cast<uint32_t>(values[i]);
    const auto exponent = static_cast<int32_t>(bits >> 23 & 0xff);
    const int32_t cut = std::min(std::max(kWhole - exponent, 0), 31);  // 31: zero and denormals
    const uint32_t mantissa = ((bits & 0x7fffff) | 0x800000) >> cut;
    const uint64_t product = static_cast<uint64_t>(mantissa) * weight;
    const auto shift = static_cast<uint64_t>(static_cast<uint32_t>(std::max(exponent - kWhole, 0)));
    const uint64_t begins_low = shift < 64 ? ~uint64_t{0} : 0;
    const uint64_t moved = product << (shift & 63);
    const uint64_t carried = product >> 1 >> (63 - (shift & 63));
    // Negative: all bits turned, plus one.
    const uint64_t sign = -static_cast<uint64_t>(bits >> 31);
    const uint64_t more_low = (moved & begins_low) ^ sign;
    const uint64_t more_high = ((carried & begins_low) | (moved & ~begins_low)) ^ sign;
    const uint64_t sum = low[i] + more_low, whole = sum + (sign & 1);
    high[i] += more_high + (sum < more_low) + (whole < sum);
    low[i] = whole;
  }
}

KINDRED_VECTORIZE void AddWide(uint64_t* __restrict low, uint64_t* __restrict high,
                               const uint64_t* __restrict more_low,
                               const uint64_t* __restrict more_high, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const uint64_t sum = low[i] + more_low[i];
    high[i] += more_high[i] + (sum < more_low[i]);
    low[i] = sum;
  }
}

}  // namespace

void WideSums::Add(std::span<const float> values, uint32_t weight) {
  Check(values.size() == size(), "values and sums of different size");
  AddWeighted(low_.data(), high_.data(), values.data(), size(), weight);
}

void WideSums::Add(std::span<const uint64_t> low, std::span<const uint64_t> high) {
  Check(low.size() == size() && high.size() == size(), "sums of different size");
  AddWide(low_.data(), high_.data(), low.data(), high.data(), size());
}

}  // namespace kindred
