#include "data/image_file.h"

#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace kindred {
namespace {

// Interleaved RGB to planes.
Bytes ToPlanes(std::span<const uint8_t> rgb) {
  const size_t plane = rgb.size() / 3;
  Bytes planar(rgb.size());
  for (size_t p = 0; p < plane; ++p) {
    for (size_t c = 0; c < 3; ++c) planar[c * plane + p] = rgb[3 * p + c];
  }
  return planar;
}

void CheckPixels(uint64_t width, uint64_t height, const std::string& name) {
  if (width == 0 || height == 0 || width > kMostPixels / height) {
    throw DataError("{}: {} x {} pixels, but at most {} are decoded", Printable(name), width,
                    height, kMostPixels);
  }
}

// libpng's simplified reader, freed with the scope.
class PngReader {
 public:
  PngReader(std::span<const uint8_t> bytes, const std::string& name) : name_(name) {
    image_.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&image_, bytes.data(), bytes.size()) == 0) Fail();
  }
  ~PngReader() { png_image_free(&image_); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  png_image& image() { return image_; }
  [[noreturn]] void Fail() const {
    throw DataError("{}: damaged PNG ({})", Printable(name_), Printable(image_.message));
  }

 private:
  png_image image_{};
  std::string name_;
};

DecodedImage DecodePng(std::span<const uint8_t> bytes, const std::string& name) {
  PngReader reader(bytes, name);
  png_image& image = reader.image();
  CheckPixels(image.width, image.height, name);
  image.format = PNG_FORMAT_RGBA;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16-bit values are as bright as their upper bytes
  Bytes rgba(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr) == 0) reader.Fail();
  Bytes rgb(rgba.size() / 4 * 3);
  for (size_t p = 0; p < rgba.size() / 4; ++p) {
    const int alpha = rgba[4 * p + 3];
    for (size_t c = 0; c < 3; ++c) {  // laid on white, in the values as they are stored
      rgb[3 * p + c] =
          static_cast<uint8_t>((rgba[4 * p + c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
  }
  return {{3, static_cast<int>(image.height), static_cast<int>(image.width)}, ToPlanes(rgb)};
}

// How often a JPEG's pixels are gone through: the segments that begin a scan. Only markers count,
// not bytes like them in a segment, such as a thumbnail's.
uint64_t ScansOf(std::span<const uint8_t> jpeg) {
  constexpr uint8_t kStuffed = 0x00, kTemporary = 0x01, kFirstBare = 0xd0, kLastBare = 0xd8,
                    kEnd = 0xd9, kScan = 0xda, kFill = 0xff;
  uint64_t scans = 0;
  for (size_t at = 0; at + 1 < jpeg.size();) {
    const uint8_t marker = jpeg[at + 1];
    if (jpeg[at] != 0xff || marker == kFill) {
      ++at;
      continue;
    }
    if (marker == kEnd) break;
    at += 2;
    if (marker == kStuffed || marker == kTemporary ||
        (marker >= kFirstBare && marker <= kLastBare)) {
      continue;  // these have no segment
    }
    scans += marker == kScan;
    if (at + 1 < jpeg.size()) at += std::max<size_t>(2, size_t{jpeg[at]} << 8 | jpeg[at + 1]);
  }
  return scans;
}

DecodedImage DecodeJpeg(std::span<const uint8_t> bytes, int size, const std::string& name) {
  const std::unique_ptr<void, int (*)(void*)> jpeg(tjInitDecompress(), tjDestroy);
  if (jpeg == nullptr) throw std::bad_alloc();
  const auto fail = [&] {
    throw DataError("{}: damaged JPEG ({})", Printable(name),
                    Printable(tjGetErrorStr2(jpeg.get())));
  };
  int width = 0, height = 0, sampling = 0, colors = 0;
  if (tjDecompressHeader3(jpeg.get(), bytes.data(), bytes.size(), &width, &height, &sampling,
                          &colors) != 0) {
    fail();
  }
  if (width <= 0 || height <= 0) {
    throw DataError("{}: damaged JPEG (it ends before its size)", Printable(name));
  }
  CheckPixels(static_cast<uint64_t>(width), static_cast<uint64_t>(height), name);
  if (colors == TJCS_CMYK || colors == TJCS_YCCK) {
    throw DataError("{}: a CMYK JPEG; save it as RGB", Printable(name));
  }
  const uint64_t scans = ScansOf(bytes);
  if (scans > kMostScannedPixels / static_cast<uint64_t>(width) / static_cast<uint64_t>(height)) {
    throw DataError(
        "{}: a JPEG of {} scans, too many for {} x {} pixels; save it as a baseline one",
        Printable(name), scans, width, height);
  }
  tjscalingfactor scale = {1, 1};
  for (const int denominator : {2, 4, 8}) {
    if (std::min(width, height) / denominator >= 2 * size) scale = {1, denominator};
  }
  const int scaled_width = TJSCALED(width, scale), scaled_height = TJSCALED(height, scale);
  Bytes rgb(static_cast<size_t>(scaled_width) * static_cast<size_t>(scaled_height) * 3);
  // A warning means bytes are missing or damaged: grey bars are not an image.
  if (tjDecompress2(jpeg.get(), bytes.data(), bytes.size(), rgb.data(), scaled_width, 0,
                    scaled_height, TJPF_RGB,
                    TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0) {
    fail();
  }
  return {{3, scaled_height, scaled_width}, ToPlanes(rgb)};
}

}  // namespace

DecodedImage DecodeImage(std::span<const uint8_t> bytes, int size, const std::string& name) {
  if (bytes.size() >= 8 && png_sig_cmp(bytes.data(), 0, 8) == 0) return DecodePng(bytes, name);
  if (bytes.size() >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff) {
    return DecodeJpeg(bytes, size, name);
  }
  throw DataError("{}: neither PNG nor JPEG", Printable(name));
}

Bytes EncodePng(std::span<const uint8_t> planar, const ImageShape& shape) {
  const size_t plane = static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width);
  const auto channels = static_cast<size_t>(shape.channels);
  Check(planar.size() == channels * plane, "image and shape differ");
  Bytes interleaved(planar.size());
  for (size_t c = 0; c < channels; ++c) {
    for (size_t p = 0; p < plane; ++p) interleaved[channels * p + c] = planar[c * plane + p];
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(shape.width);
  image.height = static_cast<png_uint_32>(shape.height);
  image.format = shape.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  Bytes png(size);
  const int ok =
      png_image_write_to_memory(&image, png.data(), &size, 0, interleaved.data(), 0, nullptr);
  Check(ok != 0, std::string("libpng did not encode: ") + image.message);
  png.resize(size);
  return png;
}

}  // namespace kindred
