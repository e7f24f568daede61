// CIFAR-10 and CIFAR-100: accepted records are written as the bytes they were read from.
#include "data/cifar.h"
#include "tests/fuzz/target.h"

namespace kindred {

void Fuzz(std::span<const uint8_t> input) {
  for (const CifarLayout& layout : {kCifar10Layout, kCifar100Layout}) {
    const auto records = Accepted([&] {
      CifarRecords read;
      ParseCifar(input, layout, "input", read);
      return read;
    });
    if (!records) continue;
    for (const int label : records->labels) Require(label < layout.classes, "a label of no class");
    Require(records->labels.size() == static_cast<size_t>(records->images.count),
            "not one label per image");
    Require(SerializeCifar(*records, layout) == Bytes(input.begin(), input.end()),
            "other records are written");
  }
}

}  // namespace kindred
