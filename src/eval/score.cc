#include "eval/score.h"

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace kindred {

Score ScoreOf(std::span<const int> predictions, std::span<const int> labels, int classes) {
  Check(predictions.size() == labels.size() && !labels.empty(),
        "predictions and labels differ in number");
  const auto count = static_cast<size_t>(classes);
  Score score;
  score.confusion.assign(count, std::vector<int>(count, 0));
  for (size_t i = 0; i < labels.size(); ++i) {
    ++score.confusion[static_cast<size_t>(labels[i])][static_cast<size_t>(predictions[i])];
  }
  int right = 0;
  for (size_t c = 0; c < count; ++c) {
    const auto& row = score.confusion[c];
    const int all = std::accumulate(row.begin(), row.end(), 0);
    score.per_class.push_back(all > 0 ? static_cast<double>(row[c]) / all
                                      : std::numeric_limits<double>::quiet_NaN());
    right += row[c];
  }
  score.accuracy = static_cast<double>(right) / static_cast<double>(labels.size());
  return score;
}

std::vector<int> Argmax(const at::Tensor& scores) {
  const auto best = scores.argmax(1).contiguous();
  const int64_t* data = best.data_ptr<int64_t>();
  return {data, data + best.size(0)};
}

MeanDeviation MeanAndDeviation(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  MeanDeviation result{.mean = std::accumulate(values.begin(), values.end(), 0.0) / count};
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.deviation = std::sqrt(squares / (count - 1));
  return result;
}

}  // namespace kindred
