#include "augment/views.h"

#include <algorithm>

#include "augment/blur.h"
#include "augment/crop.h"
#include "augment/flip.h"
#include "augment/grayscale.h"
#include "augment/normalize.h"
#include "base/error.h"

namespace kindred {

void Bind(Config& config, ViewOptions& options) {
  const Allowed probability = {.least = 0, .most = 1};
  config.BindForClients("views.crop", &options.crop,
                        "smallest share of an image's area that a random crop keeps",
                        {.least = 0.01, .most = 1});
  config.BindForClients("views.flip", &options.flip, "probability of a mirror image", probability);
  config.BindForClients("views.jitter", &options.jitter, "probability of colour jitter",
                        probability);
  config.BindForClients("views.brightness", &options.strength.brightness,
                        "strength of brightness in colour jitter", probability);
  config.BindForClients("views.contrast", &options.strength.contrast,
                        "strength of contrast in colour jitter", probability);
  config.BindForClients("views.saturation", &options.strength.saturation,
                        "strength of saturation in colour jitter", probability);
  config.BindForClients("views.hue", &options.strength.hue,
                        "strength of hue in colour jitter, in turns of the colour circle",
                        {.least = 0, .most = 0.5});
  config.BindForClients("views.grey", &options.grey, "probability that a view becomes grey",
                        probability);
  config.BindForClients("views.blur", &options.blur, "probability of Gaussian blur", probability);
  config.BindForClients("views.blur_sigma_min", &options.blur_sigma_min,
                        "smallest sigma of the blur, in pixels", {.least = 0.01, .most = 100});
  config.BindForClients("views.blur_sigma_max", &options.blur_sigma_max,
                        "largest sigma of the blur, in pixels", {.least = 0.01, .most = 100});
}

void Validate(const ViewOptions& options) {
  if (options.blur_sigma_min > options.blur_sigma_max) {
    throw UsageError("views.blur_sigma_min = {} is above views.blur_sigma_max = {}",
                     options.blur_sigma_min, options.blur_sigma_max);
  }
}

ViewOptions CropAndFlip(double crop) { return {.crop = crop, .jitter = 0, .grey = 0, .blur = 0}; }

void MakeView(const Images& images, int i, const ViewRecipe& recipe, Rng& rng,
              std::span<float> out) {
  Check(out.size() == images.ImageSize(), "the output is not the size of an image");
  const ViewOptions& options = recipe.options;
  // Equal channels are computed once and copied at the end.
  const int channels = images.grey ? 1 : images.channels;
  const ImageShape shape = {.channels = channels, .height = images.height, .width = images.width};
  const size_t size = static_cast<size_t>(channels) * images.PlaneSize();
  const auto view = out.first(size);

  const CropBox box = DrawCrop(rng, images.height, images.width, options.crop);
  ResizedCrop(images[i].first(size), shape, box, view);
  if (rng.Chance(options.flip)) FlipHorizontally(view, shape);
  if (rng.Chance(options.jitter)) ApplyJitter(view, channels, DrawJitter(rng, options.strength));
  if (channels == 3 && rng.Chance(options.grey)) Grayscale(view);
  if (rng.Chance(options.blur)) {
    const double sigma = rng.Uniform(options.blur_sigma_min, options.blur_sigma_max);
    GaussianBlur(view, shape, static_cast<float>(sigma));
  }
  for (size_t copy = size; copy < out.size(); copy += size) {
    std::copy(view.begin(), view.end(), out.begin() + static_cast<ptrdiff_t>(copy));
  }
  Normalize(out, images.channels, recipe.normalization);
}

void MakeViewPairs(const Images& images, std::span<const int> samples, const ViewRecipe& recipe,
                   const ViewKey& key, std::span<float> first, std::span<float> second) {
  const size_t size = images.ImageSize();
  Check(first.size() == samples.size() * size && second.size() == first.size(),
        "the outputs are not the size of the batch");
  for (size_t s = 0; s < samples.size(); ++s) {
    for (const uint32_t number : {0u, 1u}) {
      Rng rng({.seed = key.seed,
               .purpose = Purpose::kViews,
               .round = key.round,
               .client = key.client,
               .epoch = key.epoch,
               .sample = static_cast<uint64_t>(samples[s]),
               .part = number});
      MakeView(images, samples[s], recipe, rng,
               (number == 0 ? first : second).subspan(s * size, size));
    }
  }
}

}  // namespace kindred
