#include "data/gunzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/error.h"

namespace kindred {
namespace {

// zlib's inflate with its memory freed at the end.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipWindow = 15 + 16;
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

bool IsGzip(std::span<const uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

Bytes Gunzip(std::span<const uint8_t> bytes, uint64_t limit, const std::string& name) {
  constexpr size_t kStep = 1 << 20;
  Inflater inflater;
  z_stream& stream = inflater.stream();
  Bytes step(kStep);  // one for all members: a member may be empty
  Bytes result;
  size_t taken = 0;
  int members = 1;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    const size_t chunk = std::min<size_t>(bytes.size() - taken, 1u << 30);
    stream.next_in = const_cast<uint8_t*>(bytes.data() + taken);  // zlib does not write there
    stream.avail_in = static_cast<uInt>(chunk);
    stream.next_out = step.data();
    stream.avail_out = static_cast<uInt>(kStep);
    status = inflate(&stream, Z_NO_FLUSH);
    taken += chunk - stream.avail_in;
    result.insert(result.end(), step.data(), stream.next_out);
    if (status == Z_BUF_ERROR ||
        (status == Z_OK && taken == bytes.size() && stream.avail_out > 0)) {
      throw DataError("{}: the gzip stream is cut short", Printable(name));
    }
    if (status != Z_OK && status != Z_STREAM_END) {
      throw DataError("{}: damaged gzip stream ({})", Printable(name),
                      stream.msg != nullptr ? stream.msg : "unreadable");
    }
    if (status == Z_STREAM_END && IsGzip(bytes.subspan(taken))) {  // another member follows
      if (++members > kMostMembers) {
        throw DataError("{}: more than {} gzip members; unpack it by gunzip and pack it again",
                        Printable(name), kMostMembers);
      }
      if (inflateReset(&stream) != Z_OK) throw std::bad_alloc();
      status = Z_OK;
    }
    if (result.size() > limit) {
      throw DataError("{}: unpacks to more than the {} bytes that are read", Printable(name),
                      limit);
    }
  }
  if (taken != bytes.size()) {
    throw DataError("{}: {} bytes follow the gzip stream", Printable(name), bytes.size() - taken);
  }
  return result;
}

}  // namespace kindred
