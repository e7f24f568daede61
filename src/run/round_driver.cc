#include "run/round_driver.h"

#include <chrono>

#include "base/parallel.h"
#include "run/monitor.h"
#include "run/page_parts.h"

namespace kindred {

void RoundDriver::Begin(const std::atomic<bool>& stop) {
  if (stop) throw Interrupted{};
  if (record_.NextRound() == 0 && !record_.Sums().first_knn) MeasureKnn(0);
}

void RoundDriver::EndRound(const RoundReport& report) {
  const int done = report.round + 1;
  record_.AddRound(report);
  if (done % experiment_.eval.every == 0 || done == experiment_.train.rounds) {
    MeasureKnn(done);
  }
}

void RoundDriver::MeasureKnn(int round) {
  const Dataset* dataset = monitored_.dataset;
  if (dataset == nullptr || dataset->test.labels.empty() || dataset->train.labels.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  const Encoder encoder = {Under(record_.Global(), method_.EncoderPrefix()), experiment_.model,
                           monitored_.input};
  const KnnResult look =
      KnnAccuracyOf(encoder, *dataset, experiment_.eval, WorkerCount(experiment_.train.workers));
  record_.AddKnn(round, look.accuracy,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  WritePagePart(dir_, "embedding", [&] {
    return EmbeddingPart(round, look.features, *dataset, monitored_.partition);
  });
}

}  // namespace kindred
