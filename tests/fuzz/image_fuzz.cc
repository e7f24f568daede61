// PNG and JPEG: a decoded image is as large as it says and as is allowed, and encoded as PNG it
// decodes to the same. A PNG goes in twice, the second time with its checksums mended.
#include "data/image_file.h"

#include <turbojpeg.h>
#include <zlib.h>

#include <memory>

#include "tests/fuzz/target.h"

namespace kindred {
namespace {

constexpr size_t kPngHead = 8;
constexpr uint64_t kQuick = 1 << 16;  // pixels; more of them cost time and find nothing more

uint64_t BigEndian(std::span<const uint8_t> bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

bool IsPng(std::span<const uint8_t> bytes) { return bytes.size() >= 33 && bytes[0] == 0x89; }

// The pixels that the image announces; 0: it cannot be told.
uint64_t Announced(std::span<const uint8_t> bytes) {
  if (IsPng(bytes)) return BigEndian(bytes, 16) * BigEndian(bytes, 20);
  const std::unique_ptr<void, int (*)(void*)> jpeg(tjInitDecompress(), tjDestroy);
  int width = 0, height = 0, sampling = 0, colors = 0;
  if (tjDecompressHeader3(jpeg.get(), bytes.data(), bytes.size(), &width, &height, &sampling,
                          &colors) != 0) {
    return 0;
  }
  return static_cast<uint64_t>(width) * static_cast<uint64_t>(height);
}

// The PNG with the right checksum behind each chunk.
Bytes WithChecksums(std::span<const uint8_t> png) {
  Bytes mended(png.begin(), png.end());
  size_t at = kPngHead;
  while (mended.size() - at >= 12) {
    const uint64_t size = BigEndian(mended, at);
    if (size > mended.size() - at - 12) break;
    const uLong sum = crc32(0, mended.data() + at + 4, static_cast<uInt>(size + 4));
    at += 8 + size;
    for (int shift = 24; shift >= 0; shift -= 8) mended[at++] = static_cast<uint8_t>(sum >> shift);
  }
  return mended;
}

void CheckImage(std::span<const uint8_t> bytes, int size) {
  const auto image = Accepted([&] { return DecodeImage(bytes, size, "input"); });
  if (!image) return;
  const ImageShape& shape = image->shape;
  Require(shape.channels == 3 && shape.height > 0 && shape.width > 0, "an image without pixels");
  const uint64_t pixels = static_cast<uint64_t>(shape.height) * static_cast<uint64_t>(shape.width);
  Require(pixels <= kMostPixels && image->pixels.size() == 3 * pixels, "pixels beyond the shape");
  const DecodedImage again = DecodeImage(EncodePng(image->pixels, shape), size, "encoded");
  Require(again.pixels == image->pixels && again.shape.height == shape.height,
          "another image is read");
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  const uint64_t pixels = Announced(input);
  if (pixels > kQuick && pixels <= kMostPixels) return;
  for (const int size : {4, 1 << 10}) CheckImage(input, size);  // scaled while decoding, and not
  if (IsPng(input)) CheckImage(WithChecksums(input), 4);
}

}  // namespace kindred
