// A fuzz target: a parser of bytes from outside, and what must hold of all that it accepts.
//
// Each file x_fuzz.cc defines Fuzz. libFuzzer calls it (preset fuzz); its corpus in corpus/x goes
// through it as an ordinary test (kindred_fuzz_replay).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace kindred {

// Gives the bytes to the parser. Throws, or crashes, when something does not hold.
void Fuzz(std::span<const uint8_t> input);

// What the parser returns; nullopt when it refuses the bytes, which it may do by an Error alone.
template <class Parse>
auto Accepted(const Parse& parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Something that must hold.
inline void Require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

inline std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes the first byte off; 0 when there is none.
inline uint8_t TakeByte(std::span<const uint8_t>& rest) {
  if (rest.empty()) return 0;
  const uint8_t byte = rest.front();
  rest = rest.subspan(1);
  return byte;
}

// Takes what is before the next separator off, or all.
inline std::string_view TakePart(std::string_view& rest, std::string_view separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + separator.size());
  return part;
}

// A folder for parsers of files, gone when the program ends; in memory where there is /dev/shm.
const std::filesystem::path& FuzzFolder();

// Writes a file into it as fast as can be. The file's path.
std::filesystem::path WriteFuzzFile(const std::string& name, std::string_view content);

}  // namespace kindred
