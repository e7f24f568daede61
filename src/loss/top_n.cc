#include "loss/top_n.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/error.h"

namespace kindred {

// The values are dealt to lanes, value i to lane i mod L, and each lane's largest is found. At
// least n values are no smaller than the n-th largest of these: only lanes that reach it can hold
// one of the n largest values, and few others do.
template <class T>
void TopN<T>::Find(std::span<const T> values, std::span<int64_t> places) {
  const size_t count = values.size(), wanted = places.size();
  Check(wanted <= count, "more of the largest than there are values");
  if (wanted == 0) return;
  const size_t lanes = std::max(wanted, (count + 15) / 16);
  lanes_.assign(lanes, -std::numeric_limits<T>::infinity());
  for (size_t from = 0; from < count; from += lanes) {
    const size_t width = std::min(lanes, count - from);
    const T* row = values.data() + from;
    T* largest = lanes_.data();
    for (size_t i = 0; i < width; ++i) largest[i] = row[i] > largest[i] ? row[i] : largest[i];
  }
  ranked_ = lanes_;
  const auto last = ranked_.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(ranked_.begin(), last, ranked_.end(), std::greater<T>());
  const T least = *last;
  found_.clear();
  for (size_t lane = 0; lane < lanes; ++lane) {
    if (lanes_[lane] < least) continue;
    for (size_t i = lane; i < count; i += lanes) {
      if (values[i] >= least) found_.push_back({values[i], static_cast<int64_t>(i)});
    }
  }
  const auto nearer = [](const Candidate& a, const Candidate& b) {
    return a.value != b.value ? a.value > b.value : a.place < b.place;
  };
  const size_t sorted = std::min(wanted, found_.size());
  std::partial_sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(sorted),
                    found_.end(), nearer);
  std::fill(places.begin(), places.end(), 0);  // all but `sorted` values are NaN
  for (size_t i = 0; i < sorted; ++i) places[i] = found_[i].place;
}

template class TopN<float>;
template class TopN<double>;

}  // namespace kindred
