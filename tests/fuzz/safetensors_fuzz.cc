// safetensors: the tensors of an accepted file fill it without a hole, and its header, written
// again, reads back as the same.
#include "model/safetensors_layout.h"
#include "tests/fuzz/target.h"

namespace kindred {

void Fuzz(std::span<const uint8_t> input) {
  const auto layout = Accepted([&] { return ParseSafetensorsLayout(input, "input"); });
  if (!layout) return;
  uint64_t end = layout->start;
  for (const auto& entry : layout->entries) {
    uint64_t bytes = entry.integer ? 8 : 4;
    for (const int64_t size : entry.shape) {
      Require(size >= 0, "a negative axis");
      bytes *= static_cast<uint64_t>(size);
    }
    Require(bytes == entry.bytes, "a shape that is not its bytes");
    end += bytes;
  }
  Require(end == input.size(), "tensors that do not fill the file");

  Bytes written = SafetensorsHeader(layout->entries, layout->metadata);
  Require(written.size() % 8 == 0, "a header that is not padded");
  const auto tensors = input.subspan(layout->start);
  written.insert(written.end(), tensors.begin(), tensors.end());
  const SafetensorsLayout again = ParseSafetensorsLayout(written, "written");
  // Tensors without bytes share their place: their order is that of the names then.
  Require(again.entries.size() == layout->entries.size() && again.metadata == layout->metadata,
          "another header is read");
}

}  // namespace kindred
