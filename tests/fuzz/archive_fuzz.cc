// Archives: only wanted files come out, none above the limit. A tar goes in twice, the second time
// with the checksums of its headers mended.
#include "fetch/archive.h"

#include <algorithm>

#include "tests/fuzz/target.h"

namespace kindred {
namespace {

constexpr uint64_t kLimit = 2000;
constexpr size_t kBlock = 512;

void CheckArchive(std::string_view content) {
  const std::vector<std::string> wanted = {"train.bin", "test.bin"};
  const auto path = WriteFuzzFile("archive", content);
  const auto files = Accepted([&] { return ReadArchive(path, wanted, kLimit); });
  if (!files) return;
  for (const auto& [name, bytes] : *files) {
    Require(std::find(wanted.begin(), wanted.end(), name) != wanted.end(), "an unwanted file");
    Require(bytes.size() <= kLimit, "a file above the limit");
  }
}

// The checksum of a tar header: the sum of its bytes, its own field taken as spaces.
void MendHeader(std::span<char> block) {
  std::fill_n(block.begin() + 148, 8, ' ');
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  const std::string digits = fmt::format("{:06o}", sum);
  std::copy(digits.begin(), digits.end(), block.begin() + 148);
  block[154] = '\0';
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  const std::string_view text = AsText(input);
  CheckArchive(text);
  std::string mended(text);
  for (size_t at = 0; mended.size() - at >= kBlock; at += kBlock) {
    const std::span block(mended.data() + at, kBlock);
    if (std::string_view(block.data() + 257, 5) == "ustar") MendHeader(block);
  }
  if (mended != text) CheckArchive(mended);
}

}  // namespace kindred
