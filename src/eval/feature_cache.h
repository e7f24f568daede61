// Features computed once: h of a split by the hash of encoder and images.
#pragma once

#include <filesystem>

#include "eval/features.h"

namespace kindred {

// EncodeImages of images as they are (no options.pixels), unless the folder has its result already.
// The file is named by a hash of the encoder, its input and the pixels, and carries the hash of its
// features: a damaged one is computed again, one that cannot be written is a warning. What was not
// used for longest goes when the folder holds more than `most` bytes. An empty folder: nothing is
// kept.
at::Tensor CachedFeatures(const std::filesystem::path& folder, const Encoder& encoder,
                          const Images& images, const EncodeOptions& options = {},
                          uint64_t most = uint64_t{4} << 30);

// Where they are kept; empty, for nowhere, when there is no home.
std::filesystem::path FeatureCacheFolder();

}  // namespace kindred
