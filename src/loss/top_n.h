// The largest of many numbers, in one pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

// Places of the largest values in falling order; of equal values the lower place comes first. As
// many as `places` holds, which is at most the number of values. The cost hardly grows with that
// number. NaN is never among them while there is something else; then place 0 fills
// up.
template <class T>
class TopN {
 public:
  void Find(std::span<const T> values, std::span<int64_t> places);

 private:
  struct Candidate {
    T value;
    int64_t place;
  };
  std::vector<T> lanes_, ranked_;
  std::vector<Candidate> found_;
};

extern template class TopN<float>;
extern template class TopN<double>;

}  // namespace kindred
