// Packing, the other way round of data/gunzip: for tests that need gzip input.
#pragma once

#include <zlib.h>

#include "base/error.h"
#include "base/file.h"

namespace kindred {

inline Bytes Gzip(const Bytes& content) {
  z_stream stream{};
  Check(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  Bytes packed(deflateBound(&stream, content.size()) + 64);
  stream.next_in = const_cast<uint8_t*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  Check(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace kindred
