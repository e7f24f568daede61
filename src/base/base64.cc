#include "base/base64.h"

#include <sodium.h>

namespace kindred {

std::string Base64(std::span<const uint8_t> bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  text.pop_back();  // the zero byte
  return text;
}

}  // namespace kindred
