// PNG and JPEG: decoded with a cap on pixels that is checked before any is decoded, PNG encoded.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "data/resize.h"

namespace kindred {

// A decoded image: planar bytes, 3 channels.
struct DecodedImage {
  ImageShape shape;
  Bytes pixels;
};

inline constexpr uint64_t kMostPixels = 100'000'000;  // 10,000 x 10,000

// Of a JPEG: scans times pixels. Encoders make about ten scans of a progressive one.
inline constexpr uint64_t kMostScannedPixels = 16 * kMostPixels;

// Decodes by the file's first bytes, whatever its name. 16-bit becomes 8-bit, palettes and grey
// become colour, transparent pixels are laid on white. A JPEG much larger than `size` is decoded at
// 1/2, 1/4 or 1/8 of it, its shorter side still at least twice `size`.
//
// Throws a data error when the bytes are neither PNG nor JPEG, are damaged or cut short, announce
// more than kMostPixels, or have scans of more than kMostScannedPixels or more than 500 scans.
// `name` is for messages.
DecodedImage DecodeImage(std::span<const uint8_t> bytes, int size, const std::string& name);

// A PNG of planar bytes: 1 channel grey, 3 colour.
Bytes EncodePng(std::span<const uint8_t> planar, const ImageShape& shape);

}  // namespace kindred
