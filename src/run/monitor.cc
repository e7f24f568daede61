#include "run/monitor.h"

#include <tuple>

#include "eval/features.h"
#include "eval/knn.h"
#include "eval/score.h"

namespace kindred {

KnnResult KnnAccuracyOf(const Encoder& encoder, const Dataset& dataset, const EvalOptions& options,
                        int workers) {
  const auto encode = [&](const Images& images) {
    return UnitRows(EncodeImages(encoder, images, {.workers = workers}));
  };
  const auto& [train, test] = std::tie(dataset.train, dataset.test);
  const auto features = encode(train.images);
  const auto predictions =
      KnnPredict(features, train.labels, encode(test.images), dataset.Classes(),
                 {.k = options.k, .t = options.t, .workers = workers});
  return {ScoreOf(predictions, test.labels, dataset.Classes()).accuracy, features};
}

void LimitTestImages(Dataset& dataset, const EvalOptions& options) {
  if (options.limit > 0 && options.limit < dataset.test.images.count) {
    dataset.test = Select(
        dataset.test, LimitIndices(dataset.test.labels, dataset.test.images.count, options.limit));
  }
}

}  // namespace kindred
