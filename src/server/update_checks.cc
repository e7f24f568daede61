#include "server/update_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/distance.h"
#include "model/floats.h"

namespace kindred {
namespace {

using Why = std::optional<Refused>;

constexpr double kMostNumber = 1e15;                // sums of such numbers stay finite
constexpr int64_t kMostCounter = int64_t{1} << 60;  // a sum with it does not overflow
constexpr double kMostSteps = 4;        // by which more steps widen the bound on norms at most
constexpr int64_t kPassesPerStep = 16;  // more than any method takes through a norm

template <class... Values>
Refused Because(Refusal reason, fmt::format_string<Values...> message, Values&&... values) {
  return {reason, fmt::format(message, std::forward<Values>(values)...)};
}

const char* TypeOf(const at::Tensor& tensor) {
  if (tensor.scalar_type() == torch::kFloat) return "float32";
  return tensor.scalar_type() == torch::kInt64 ? "int64" : "of another kind";
}

Why CheckImages(const Arrival& arrival, const UpdateLimits& limits) {
  if (arrival.report.images < 1) return Because(Refusal::kImages, "{}", arrival.report.images);
  if (limits.enrolled > 0 && arrival.report.images != limits.enrolled) {
    return Because(Refusal::kImages, "{}, enrolled with {}", arrival.report.images,
                   limits.enrolled);
  }
  if (arrival.report.images > limits.most_images) {
    return Because(Refusal::kFull, "{} images, the sum of the round has room for {}",
                   arrival.report.images, limits.most_images);
  }
  return std::nullopt;
}

bool IsMetricName(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kLongestMetricName &&
         std::all_of(name.begin(), name.end(), allowed);
}

// Batches of an epoch: a short one only when it is alone.
int64_t StepsOf(int64_t images, const UpdateLimits& limits) {
  return limits.epochs * std::max<int64_t>(1, images / limits.batch);
}

Why CheckNumbers(const Arrival& arrival, const UpdateLimits& limits) {
  if (!(std::abs(arrival.report.loss) <= kMostNumber)) {
    return Because(Refusal::kNumbers, "the loss is {}", arrival.report.loss);
  }
  const int64_t steps = StepsOf(arrival.report.images, limits);
  if (arrival.report.steps < 1 || arrival.report.steps > steps) {
    return Because(Refusal::kNumbers, "{} steps, 1 to {} are possible", arrival.report.steps,
                   steps);
  }
  if (arrival.report.seen < 0 || arrival.report.seen > limits.epochs * arrival.report.images) {
    return Because(Refusal::kNumbers, "{} images seen, at most {} are possible",
                   arrival.report.seen, limits.epochs * arrival.report.images);
  }
  if (arrival.report.metrics.size() > kMostMetrics) {
    return Because(Refusal::kNumbers, "{} metrics, at most {}", arrival.report.metrics.size(),
                   kMostMetrics);
  }
  for (const auto& [name, value] : arrival.report.metrics) {
    if (!IsMetricName(name)) {
      return Because(Refusal::kNumbers, "a metric named {}", Printable(name));
    }
    if (limits.metrics != nullptr && !limits.metrics->contains(name)) {
      return Because(Refusal::kNumbers, "a metric named {}, which the method does not have", name);
    }
    if (std::abs(value) > kMostNumber) return Because(Refusal::kNumbers, "{} is {}", name, value);
  }
  return std::nullopt;
}

Why CheckManifest(const NamedTensors& model, const NamedTensors& global) {
  for (const auto& [name, tensor] : model) {
    if (!global.contains(name)) return Because(Refusal::kManifest, "{} is extra", Printable(name));
  }
  for (const auto& [name, expected] : global) {
    const auto at = model.find(name);
    if (at == model.end()) return Because(Refusal::kManifest, "{} is missing", name);
    const at::Tensor& tensor = at->second;
    if (!tensor.defined() || !tensor.is_contiguous() || !tensor.device().is_cpu()) {
      return Because(Refusal::kManifest, "{} is not a resting tensor", name);
    }
    if (tensor.scalar_type() != expected.scalar_type()) {
      return Because(Refusal::kManifest, "{} is {}, not {}", name, TypeOf(tensor),
                     TypeOf(expected));
    }
    if (tensor.sizes() != expected.sizes()) {
      return Because(Refusal::kManifest, "{} is [{}], not [{}]", name,
                     fmt::join(tensor.sizes(), ", "), fmt::join(expected.sizes(), ", "));
    }
  }
  return std::nullopt;
}

// Clients keep the variances of dead channels above 0 (client/round).
Why CheckVariances(const std::string& name, std::span<const float> variances) {
  const auto bad = std::find_if(variances.begin(), variances.end(),
                                [](float variance) { return variance <= 0; });
  if (bad == variances.end()) return std::nullopt;
  return Because(Refusal::kValues, "{} holds {}, a variance", name, *bad);
}

// |sqrt(a) - sqrt(b)|^2. Variances are squares: as such, one channel that wakes up would outweigh
// all weights of a model, and its honest client be refused.
double SquaredOfDeviations(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double gap = std::sqrt(a[i]) - std::sqrt(std::max(b[i], 0.0f));
    sum += gap * gap;
  }
  return sum;
}

// A counter may grow by what the client's steps can have added.
Why CheckCounters(const std::string& name, const at::Tensor& own, const at::Tensor& global,
                  int64_t growth) {
  const int64_t* a = own.data_ptr<int64_t>();
  const int64_t* b = global.data_ptr<int64_t>();
  for (int64_t i = 0; i < own.numel(); ++i) {
    const int64_t most = std::min(b[i], kMostCounter - growth) + growth;
    if (a[i] < 0 || a[i] > most) {
      return Because(Refusal::kValues, "{} holds {}, a counter of 0 to {}", name, a[i], most);
    }
  }
  return std::nullopt;
}

// The values of all tensors, and |theta_c - theta|^2, variances counted by their roots.
Why CheckValues(const Arrival& arrival, const UpdateLimits& limits, double& squared) {
  // A step, and a pass over all images before an epoch.
  const int64_t growth =
      kPassesPerStep * (StepsOf(arrival.report.images, limits) + 2 * limits.epochs);
  for (const auto& [name, global] : limits.global) {
    const at::Tensor& own = arrival.model.at(name);
    if (own.scalar_type() == torch::kInt64) {
      if (auto why = CheckCounters(name, own, global, growth)) return why;
      continue;
    }
    const auto values = Floats(own);
    const ValuesSeen seen = CompareValues(values.data(), Floats(global).data(), values.size());
    if (!seen.in_range) {
      const auto bad = std::find_if(values.begin(), values.end(),
                                    [](float value) { return !(std::abs(value) < 0x1p20f); });
      return Because(Refusal::kValues,
                     "{} holds {}; training has diverged, a lower train.lr may help", name, *bad);
    }
    if (!name.ends_with("running_var")) {
      squared += seen.squared;
      continue;
    }
    if (auto why = CheckVariances(name, values)) return why;
    squared += SquaredOfDeviations(values, Floats(global));
  }
  return std::nullopt;
}

Why CheckNorm(const Arrival& arrival, const UpdateLimits& limits, double norm) {
  if (limits.max_norm > 0 && norm > limits.max_norm) {
    return Because(Refusal::kNorm, "{:.4g} from the global model, server.max_norm = {:.4g}", norm,
                   limits.max_norm);
  }
  if (limits.norm_ratio == 0 || limits.usual.norm == 0) return std::nullopt;
  double usual = limits.usual.norm;
  if (limits.usual.steps > 0) {
    // Who trained longer went further; but steps are the client's word.
    usual *=
        std::clamp(static_cast<double>(arrival.report.steps) / limits.usual.steps, 1.0, kMostSteps);
  }
  if (norm <= limits.norm_ratio * usual) return std::nullopt;
  return Because(Refusal::kNorm,
                 "{:.4g} from the global model, usual is {:.4g}, server.norm_ratio = {:.4g}", norm,
                 usual, limits.norm_ratio);
}

Why CheckShared(const Arrival& arrival, const UpdateLimits& limits) {
  if (!arrival.features.defined()) return std::nullopt;
  const int64_t most = std::min<int64_t>(limits.features_most, arrival.report.images);
  auto why = CheckFeatures(arrival.features, limits.features_width, most, limits.unit_rows);
  if (!why) {
    why = CheckOwnFeatures(arrival.features, arrival.client,
                           limits.shared != nullptr ? *limits.shared : OrderedRows());
  }
  if (why) return Refused{Refusal::kFeatures, *why};
  return std::nullopt;
}

}  // namespace

std::optional<Refused> CheckUpdate(const Arrival& arrival, const UpdateLimits& limits,
                                   double* norm) {
  double squared = 0;
  if (auto why = CheckImages(arrival, limits)) return why;
  if (auto why = CheckNumbers(arrival, limits)) return why;
  if (auto why = CheckManifest(arrival.model, limits.global)) return why;
  if (auto why = CheckValues(arrival, limits, squared)) return why;
  if (auto why = CheckNorm(arrival, limits, std::sqrt(squared))) return why;
  if (auto why = CheckShared(arrival, limits)) return why;
  if (norm != nullptr) *norm = std::sqrt(squared);
  return std::nullopt;
}

}  // namespace kindred
