#include "privacy/shared_features.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "augment/normalize.h"
#include "base/error.h"

namespace kindred {
namespace {

constexpr double kUnit = 1e-3;  // how far a length may be from 1

std::vector<Mix> MixesOf(const FeatureRequest& request) {
  if (request.images.count < request.options.mix) {
    throw UsageError("a client has {} images, an encoding mixes privacy.mix = {}",
                     request.images.count, request.options.mix);
  }
  return DrawMixes(request.images.count, request.count, request.options.mix, request.secret,
                   request.round);
}

// Features of `count` images made by `fill(first, out)`, a batch at a time. No batch is short
// unless it is the only one: with batch statistics its features would live apart.
at::Tensor InBatches(const FeatureRequest& request, int64_t count,
                     const std::function<void(int64_t first, at::Tensor& out)>& fill,
                     const FeatureFunction& features) {
  torch::NoGradGuard no_gradient;
  const int64_t batches = std::max<int64_t>(1, count / request.batch);
  std::vector<at::Tensor> parts;
  for (int64_t b = 0, first = 0; b < batches; ++b) {
    const int64_t size = b + 1 < batches ? request.batch : count - first;
    auto images =
        torch::empty({size, request.images.channels, request.images.height, request.images.width});
    fill(first, images);
    parts.push_back(features(images));
    first += size;
  }
  return torch::cat(parts).contiguous();
}

std::span<float> Floats(at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

}  // namespace

ProtectedFeatures Protect(const FeatureRequest& request, const FeatureFunction& features) {
  const auto mixes = MixesOf(request);
  SecretStream signs(request.secret, {request.round, SecretUse::Part::kSigns});
  const bool magnitude = request.options.input == "magnitude";
  ProtectedFeatures result;
  result.rows_ = InBatches(
      request, static_cast<int64_t>(mixes.size()),
      [&](int64_t first, at::Tensor& out) {
        EncodeMixes(
            request.images, request.normalization,
            std::span(mixes).subspan(static_cast<size_t>(first), static_cast<size_t>(out.size(0))),
            signs, Floats(out));
        if (magnitude) out.abs_();
      },
      features);
  return result;
}

PlainFeatures LeavePlain(const FeatureRequest& request, const FeatureFunction& features) {
  const auto mixes = MixesOf(request);  // plain ones keep to what encoded ones can be made of
  PlainFeatures result;
  result.rows_ = InBatches(
      request, static_cast<int64_t>(mixes.size()),
      [&](int64_t first, at::Tensor& out) {
        const size_t size = request.images.ImageSize();
        for (int64_t i = 0; i < out.size(0); ++i) {
          PlainImage(request.images, mixes[static_cast<size_t>(first + i)].images[0],
                     request.normalization,
                     Floats(out).subspan(static_cast<size_t>(i) * size, size));
        }
      },
      features);
  return result;
}

std::optional<std::string> WhyNotFeatures(const at::Tensor& rows, int64_t width, int64_t most) {
  if (!rows.defined() || rows.dim() != 2 || rows.scalar_type() != torch::kFloat) {
    return "not a matrix of floats";
  }
  if (rows.size(1) != width) return fmt::format("{} wide, not {}", rows.size(1), width);
  if (rows.size(0) > most) return fmt::format("{} rows, at most {}", rows.size(0), most);
  if (rows.size(0) == 0) return std::nullopt;
  torch::NoGradGuard no_gradient;
  const auto length = rows.norm(2, 1);
  if (!length.isfinite().all().item<bool>()) return "not finite";
  if (((length - 1).abs() > kUnit).any().item<bool>()) return "rows not of length 1";
  return std::nullopt;
}

}  // namespace kindred
