#include "command/open_encoder.h"

#include "command/resolve.h"

namespace kindred {

TrainedEncoder OpenEncoder(const EncoderFlags& flags, const std::string& path) {
  return OpenTrainedEncoder(path, flags.round < 0 ? std::nullopt : std::optional(flags.round));
}

Resolved ResolveFor(ConfigFlags config, const TrainedEncoder& trained) {
  if (config.files.empty() && trained.run) config.files = {trained.run->config().string()};
  Resolved resolved = Resolve(config);
  DataOptions& data = resolved.experiment->data;
  const auto untouched = [&](const char* key) {
    return resolved.config.OriginOf(key) == "default";
  };
  if (!trained.run) {
    const auto bring = [&](const char* field, const char* key) {
      if (untouched(key) && trained.origin.contains(field)) {
        resolved.config.Apply(key, trained.origin[field].get<std::string>(), trained.path);
      }
    };
    bring("dataset", "data.name");
    // A federation's partition is nobody's to deal.
    if (trained.origin.value("simulated", true)) bring("scheme", "partition.scheme");
  }
  const ImageShape& shape = trained.encoder.input.shape;
  if (data.name == "folder") {
    if (data.size == 0) data.size = shape.height;
    if (untouched("data.channels")) data.channels = shape.channels;
  }
  return resolved;
}

}  // namespace kindred
