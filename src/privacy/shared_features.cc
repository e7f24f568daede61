#include "privacy/shared_features.h"

#include <fmt/format.h>
#include <torch/torch.h>

namespace kindred {
namespace {

constexpr double kUnit = 1e-3;  // how far a length may be from 1

}  // namespace

std::optional<std::string> CheckFeatures(const at::Tensor& rows, int64_t width, int64_t most,
                                         bool unit_rows) {
  if (!rows.defined() || rows.dim() != 2 || rows.scalar_type() != torch::kFloat) {
    return "not a matrix of floats";
  }
  if (rows.size(1) != width) return fmt::format("{} wide, not {}", rows.size(1), width);
  if (rows.size(0) > most) return fmt::format("{} rows, at most {}", rows.size(0), most);
  if (rows.size(0) == 0) return std::nullopt;
  torch::NoGradGuard no_gradient;
  const auto length = rows.norm(2, 1);
  if (!length.isfinite().all().item<bool>()) return "not finite";
  if (unit_rows && ((length - 1).abs() > kUnit).any().item<bool>()) return "rows not of length 1";
  return std::nullopt;
}

}  // namespace kindred
