#include "eval/feature_cache.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "model/safetensors.h"

namespace kindred {
namespace {

std::string KeyOf(const Encoder& encoder, const Images& images) {
  Digest digest;
  digest.Add(std::string_view("kindred features 2")).Add(DigestOf(encoder.tensors));
  digest.Add(encoder.model.arch).Add(encoder.model.engine).Add(encoder.input.ToText());
  digest.Add(int64_t{images.count}).Add(int64_t{images.channels});
  digest.Add(int64_t{images.height}).Add(int64_t{images.width}).Add(images.pixels);
  return digest.Hex();
}

// The features of a file, or nothing when they are not what its header says.
at::Tensor ReadFeatures(const std::filesystem::path& path, int64_t rows) {
  try {
    const Bytes bytes = ReadFile(path, uint64_t{1} << 36);
    const Safetensors content = ParseSafetensors(bytes, path.string());
    const auto h = content.tensors.find("h");
    const auto digest = content.metadata.find("digest");
    if (h != content.tensors.end() && h->second.dim() == 2 && h->second.size(0) == rows &&
        h->second.dtype() == torch::kFloat && digest != content.metadata.end() &&
        digest->second == DigestOf(content.tensors)) {
      return h->second;
    }
  } catch (const Error&) {
  }
  return {};
}

// Removes the files used longest ago until the rest fits.
void Evict(const std::filesystem::path& folder, uint64_t most) {
  struct Kept {
    std::filesystem::file_time_type used;
    uint64_t bytes;
    std::filesystem::path path;
  };
  std::vector<Kept> files;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().extension() != ".safetensors") continue;
    std::error_code gone;  // another process may have removed it
    const auto used = at->last_write_time(gone);
    const auto bytes = at->file_size(gone);
    if (!gone) files.push_back({used, bytes, at->path()});
  }
  std::sort(files.begin(), files.end(),
            [](const Kept& a, const Kept& b) { return a.used > b.used; });
  uint64_t sum = 0;
  for (const auto& file : files) {
    sum += file.bytes;
    if (sum > most) std::filesystem::remove(file.path, failure);
  }
}

}  // namespace

at::Tensor CachedFeatures(const std::filesystem::path& folder, const Encoder& encoder,
                          const Images& images, const EncodeOptions& options, uint64_t most) {
  Check(!options.pixels, "only images as they are have a place in the cache");
  if (folder.empty()) return EncodeImages(encoder, images, options);
  const auto path = folder / (KeyOf(encoder, images) + ".safetensors");
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    if (auto known = ReadFeatures(path, images.count); known.defined()) {
      std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(),
                                       ignored);
      if (options.on_images) options.on_images(images.count);
      return known;
    }
    spdlog::warn("{}: damaged; its features are computed again", Printable(path.string()));
  }
  const at::Tensor h = EncodeImages(encoder, images, options);
  try {
    const NamedTensors tensors = {{"h", h}};
    MakeFolder(folder);
    WriteFileAtomically(path, SerializeSafetensors({tensors, {{"digest", DigestOf(tensors)}}}));
    Evict(folder, most);
  } catch (const Error& error) {
    spdlog::warn("features are not kept for the next time: {}", error.what());
  }
  return h;
}

std::filesystem::path FeatureCacheFolder() {
  try {
    return CacheFolder() / "features";
  } catch (const Error&) {
    return {};
  }
}

}  // namespace kindred
