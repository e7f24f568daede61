// Fingerprints: BLAKE2b for what Kindred makes, XXH3 against accidents on the way, MD5 only to
// recognise published files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kindred {

// A running BLAKE2b-256. Integers are fed in little-endian order, so a digest means the same
// anywhere.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  Digest& Add(std::span<const uint8_t> bytes);
  Digest& Add(std::string_view text);  // its length, then its bytes
  Digest& Add(int64_t value);

  // 64 hexadecimal digits. Ends the digest: nothing may be added after it.
  std::string Hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A running XXH3-128, many times faster than a digest. It finds what was damaged, not what was
// forged: whoever chooses the bytes can choose its value.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  Checksum& Add(std::span<const uint8_t> bytes);

  std::string Hex() const;  // 32 hexadecimal digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// MD5 of the bytes, 32 hexadecimal digits: how the datasets' authors identify their files.
std::string Md5Hex(std::span<const uint8_t> bytes);

}  // namespace kindred
