#include "data/image_file.h"

#include <gtest/gtest.h>
#include <turbojpeg.h>
#include <zlib.h>

#include <algorithm>

#include "tests/golden.h"
#include "tests/throws.h"

namespace kindred {
namespace {

Bytes EncodeJpeg(int height, int width, uint8_t value) {
  const Bytes rgb(static_cast<size_t>(height) * static_cast<size_t>(width) * 3, value);
  tjhandle jpeg = tjInitCompress();
  unsigned char* out = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(
      tjCompress2(jpeg, rgb.data(), width, 0, height, TJPF_RGB, &out, &size, TJSAMP_420, 95, 0), 0);
  Bytes bytes(out, out + size);
  tjFree(out);
  tjDestroy(jpeg);
  return bytes;
}

void PutBigEndian(Bytes& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<uint8_t>(value >> shift));
}

void PutChunk(Bytes& bytes, const char* type, const Bytes& content) {
  PutBigEndian(bytes, static_cast<uint32_t>(content.size()));
  const size_t start = bytes.size();
  bytes.insert(bytes.end(), type, type + 4);
  bytes.insert(bytes.end(), content.begin(), content.end());
  PutBigEndian(bytes, static_cast<uint32_t>(
                          crc32(0, bytes.data() + start, static_cast<uInt>(bytes.size() - start))));
}

// A well-formed PNG header of any size, its pixels missing.
Bytes PngHeader(uint32_t width, uint32_t height) {
  Bytes bytes = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  Bytes header;
  PutBigEndian(header, width);
  PutBigEndian(header, height);
  header.insert(header.end(), {8, 2, 0, 0, 0});
  PutChunk(bytes, "IHDR", header);
  PutChunk(bytes, "IDAT", {0x78, 0x9c, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01});
  PutChunk(bytes, "IEND", {});
  return bytes;
}

// A PNG of one row with the given header fields, raw row bytes and chunks before its pixels.
Bytes HandMadePng(uint32_t width, uint8_t depth, uint8_t color, Bytes row, const Bytes& chunks) {
  Bytes bytes = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  Bytes header;
  PutBigEndian(header, width);
  PutBigEndian(header, 1);
  header.insert(header.end(), {depth, color, 0, 0, 0});
  PutChunk(bytes, "IHDR", header);
  bytes.insert(bytes.end(), chunks.begin(), chunks.end());
  row.insert(row.begin(), 0);  // no filter
  Bytes packed(compressBound(row.size()));
  uLongf size = packed.size();
  EXPECT_EQ(compress(packed.data(), &size, row.data(), row.size()), Z_OK);
  packed.resize(size);
  PutChunk(bytes, "IDAT", packed);
  PutChunk(bytes, "IEND", {});
  return bytes;
}

// 16-bit grey 0x8000 is 128 (not gamma-corrected), a palette's entry is its colour, transparent red
// is white.
TEST(ImageFile, EveryKindOfPngBecomesEightBitColour) {
  const auto decode = [](const Bytes& png) { return DecodeImage(png, 8, "x.png").pixels; };
  EXPECT_EQ(decode(HandMadePng(2, 16, 0, {0x80, 0x00, 0xff, 0xff}, {})),
            (Bytes{128, 255, 128, 255, 128, 255}));
  Bytes palette;
  PutChunk(palette, "PLTE", {10, 20, 30, 40, 50, 60});
  EXPECT_EQ(decode(HandMadePng(2, 8, 3, {1, 0}, palette)), (Bytes{40, 10, 50, 20, 60, 30}));
  EXPECT_EQ(decode(HandMadePng(2, 8, 6, {255, 0, 0, 0, 255, 0, 0, 255}, {})),
            (Bytes{255, 255, 255, 0, 255, 0}));
  EXPECT_EQ(decode(HandMadePng(1, 8, 6, {0, 0, 0, 128}, {})), (Bytes{127, 127, 127}));
}

TEST(ImageFile, PngReadsBackBitForBit) {
  const Bytes pixels = GoldenPattern(3, 11, 17);
  const DecodedImage image = DecodeImage(EncodePng(pixels, {3, 11, 17}), 8, "x.png");
  EXPECT_EQ(image.shape.height, 11);
  EXPECT_EQ(image.shape.width, 17);
  EXPECT_EQ(image.pixels, pixels);
}

TEST(ImageFile, GreyPngBecomesColour) {
  const Bytes pixels = GoldenPattern(1, 5, 4);
  const DecodedImage image = DecodeImage(EncodePng(pixels, {1, 5, 4}), 8, "x.png");
  ASSERT_EQ(image.pixels.size(), 60u);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(),
                           image.pixels.begin() + static_cast<ptrdiff_t>(20 * c)));
  }
}

TEST(ImageFile, ALargeJpegIsDecodedSmaller) {
  const Bytes jpeg = EncodeJpeg(400, 600, 90);
  const DecodedImage small = DecodeImage(jpeg, 32, "x.jpg");
  EXPECT_EQ(small.shape.height, 100);  // 1/4: 1/8 would leave fewer than 2 x 32 rows
  EXPECT_EQ(small.shape.width, 150);
  const DecodedImage full = DecodeImage(jpeg, 300, "x.jpg");
  EXPECT_EQ(full.shape.height, 400);
  EXPECT_NEAR(small.pixels[7], 90, 2);
}

TEST(ImageFile, RefusesBombsBeforeDecodingThem) {
  ExpectError(ExitCode::kData, "100000 x 100000 pixels",
              [] { DecodeImage(PngHeader(100'000, 100'000), 32, "bomb.png"); });
  Bytes jpeg = EncodeJpeg(16, 16, 0);
  const uint8_t frame[] = {0xff, 0xc0};
  auto at = std::search(jpeg.begin(), jpeg.end(), std::begin(frame), std::end(frame));
  ASSERT_NE(at, jpeg.end());
  std::fill(at + 5, at + 9, 0xfd);  // height and width: 65021
  ExpectError(ExitCode::kData, "65021 x 65021 pixels", [&] { DecodeImage(jpeg, 32, "bomb.jpg"); });
}

void PutSegment(Bytes& jpeg, uint8_t marker, const Bytes& content) {
  const size_t size = content.size() + 2;
  jpeg.insert(jpeg.end(),
              {0xff, marker, static_cast<uint8_t>(size >> 8), static_cast<uint8_t>(size)});
  jpeg.insert(jpeg.end(), content.begin(), content.end());
}

// A progressive grey JPEG, 64 x 64 unless `side` says otherwise (then its scans have no data). The
// first scan gives each block's mean, the others one bit of one coefficient each, in the order that
// the standard asks for: coefficients 1 to 63, for each its bits 13 to 0. Every code is one bit, 0:
// no difference to the block before, or nothing in this block.
Bytes ProgressiveJpeg(int scans, uint16_t side = 64) {
  Bytes jpeg = {0xff, 0xd8};
  Bytes quantization(65, 1);
  quantization[0] = 0;
  PutSegment(jpeg, 0xdb, quantization);
  const auto high = static_cast<uint8_t>(side >> 8), low = static_cast<uint8_t>(side);
  PutSegment(jpeg, 0xc2, {8, high, low, high, low, 1, 1, 0x11, 0});
  for (const uint8_t table : {0x00, 0x10}) {  // of means, of coefficients: one code of one bit
    Bytes codes(18, 0);
    codes[0] = table;
    codes[1] = 1;
    PutSegment(jpeg, 0xc4, codes);
  }
  for (int i = 0; i < scans; ++i) {
    const auto coefficient = static_cast<uint8_t>(i == 0 ? 0 : 1 + (i - 1) / 14);
    const int bit = i == 0 ? 0 : 13 - (i - 1) % 14;
    const int before = i == 0 || bit == 13 ? 0 : bit + 1;
    PutSegment(jpeg, 0xda,
               {1, 1, 0, coefficient, coefficient, static_cast<uint8_t>(before << 4 | bit)});
    if (side == 64) jpeg.insert(jpeg.end(), 8, 0);  // 64 blocks, a bit for each
  }
  jpeg.insert(jpeg.end(), {0xff, 0xd9});
  return jpeg;
}

TEST(ImageFile, AProgressiveJpegHasSoManyScansAndNoMore) {
  const auto decode = [](const Bytes& jpeg) { return DecodeImage(jpeg, 64, "x.jpg"); };
  EXPECT_EQ(decode(ProgressiveJpeg(1)).pixels, Bytes(3 * 64 * 64, 128));
  EXPECT_EQ(decode(ProgressiveJpeg(490)).pixels, Bytes(3 * 64 * 64, 128));
  ExpectError(ExitCode::kData, "more than 500 scans", [&] { decode(ProgressiveJpeg(800)); });
}

// Each scan goes through every pixel, though it has a few bytes.
TEST(ImageFile, ALargeJpegHasFewScans) {
  const auto decode = [](int scans) { DecodeImage(ProgressiveJpeg(scans, 2000), 2000, "x.jpg"); };
  ExpectError(ExitCode::kData, "a JPEG of 401 scans, too many for 2000 x 2000 pixels",
              [&] { decode(401); });
  // Few enough: what stops this one is that its scans are empty.
  ExpectError(ExitCode::kData, "damaged JPEG", [&] { decode(400); });
}

TEST(ImageFile, AThumbnailsScansAreNotTheImages) {
  Bytes jpeg = {0xff, 0xd8};
  for (int i = 0; i < 40; ++i) {  // more than the image below may have
    Bytes thumbnails;
    for (int j = 0; j < 1000; ++j) thumbnails.insert(thumbnails.end(), {0xff, 0xda, 0, 0});
    PutSegment(jpeg, 0xe1, thumbnails);
  }
  const Bytes image = EncodeJpeg(400, 600, 90);
  jpeg.insert(jpeg.end(), image.begin() + 2, image.end());
  EXPECT_EQ(DecodeImage(jpeg, 300, "x.jpg").shape.height, 400);
}

TEST(ImageFile, RefusesWhatIsDamagedOrNoImage) {
  const Bytes png = EncodePng(GoldenPattern(3, 40, 40), {3, 40, 40});
  for (const size_t size : {size_t{20}, size_t{60}, png.size() / 2}) {
    ExpectError(ExitCode::kData, "damaged PNG",
                [&] { DecodeImage(std::span(png).first(size), 8, "x"); });
  }
  const Bytes jpeg = EncodeJpeg(64, 64, 120);
  ExpectError(ExitCode::kData, "damaged JPEG",
              [&] { DecodeImage(std::span(jpeg).first(jpeg.size() - 20), 8, "x"); });
  ExpectError(ExitCode::kData, "damaged JPEG",
              [&] { DecodeImage(std::span(jpeg).first(30), 8, "x"); });
  ExpectError(ExitCode::kData, "neither PNG nor JPEG", [] { DecodeImage(Bytes(100, 0), 8, "x"); });
  ExpectError(ExitCode::kData, "neither PNG nor JPEG", [] { DecodeImage({}, 8, "x"); });
}

}  // namespace
}  // namespace kindred
