// A kept round's file, without the tensors: four parts, each its length and its bytes, then the
// digest of all that.
//
//   JSON: run, round, plan, upload | the update's header | its bytes | states, as safetensors
#pragma once

#include <functional>
#include <span>
#include <string>

#include "wire/upload_header.h"

namespace kindred {

struct KeptParts {
  std::string run;
  int round = -1;
  std::string plan, upload;
  v1::UploadHeader header;
  std::span<const uint8_t> update, states;  // not owned
};

// Gives the file's bytes to `write`, in order.
void WriteKeptParts(const KeptParts& parts,
                    const std::function<void(std::span<const uint8_t>)>& write);

// Reads them back; update and states lie in `bytes`. Throws a data error, without the file's name,
// when they are damaged.
KeptParts ParseKeptParts(std::span<const uint8_t> bytes);

}  // namespace kindred
