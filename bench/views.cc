// Times views on one core: makes the two views of each of N images of the drawn shapes and prints
// the views per second. `bench/views.py` sets it against torchvision.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <numeric>

#include "augment/views.h"
#include "data/dataset.h"

int main(int argc, char** argv) {
  using namespace kindred;
  const int count = argc > 1 ? std::atoi(argv[1]) : 2000;
  const Dataset dataset = LoadDataset({.name = "shapes", .limit = count});
  const Images& images = dataset.train.images;
  std::vector<int> samples(static_cast<size_t>(count));
  std::iota(samples.begin(), samples.end(), 0);
  std::vector<float> first(samples.size() * images.ImageSize()), second(first.size());
  uint32_t epoch = 0;
  const auto make = [&] {
    MakeViewPairs(images, samples, {.normalization = dataset.normalization}, {.epoch = epoch++},
                  first, second);
  };
  make();  // warm the memory
  const auto start = std::chrono::steady_clock::now();
  make();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{:.1f}\n", 2 * count / seconds);
}
