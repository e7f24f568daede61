// False negatives, seen by an observer that alone knows labels (paper, Sect. 4: Eq. 4 and 5).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "client/round.h"
#include "partition/partition.h"

namespace kindred {

// Whose images are of which class, and how what they share was made.
struct LabeledClients {
  const Split& data;
  const Partition& partition;
  int classes = 0;
  PrivacyOptions privacy;
  int shared = 0;  // features a client shares at most
  uint64_t seed = 0;
};

// R_FN of a query, averaged over a client's images: the share of negatives that are of the query's
// class (Eq. 4; without local rows Eq. 5). The paper has m balanced classes on every client; here a
// client i has a share pi_i(y) of each class y, which is then 1/m or 0:
//
//   R_FN(y) = (pi_c(y) |Q_l| + sum_i pi_i(y) |Q_s,i|) / (|Q_l| + sum_i |Q_s,i|)
//
// shares[i][y]: pi_i(y). remote_rows[i]: rows of client i among the negatives, times what each
// counts. 0 without negatives.
double PredictedFalseNegatives(const std::vector<std::vector<double>>& shares, int client,
                               double local_rows, const std::vector<double>& remote_rows);

// Makes the observers of a run's clients. Its metrics: "false_negatives", measured, a query's own
// keys left out, an encoding counted by the weight of the query's class in its mix;
// "false_negatives_predicted"; and "neighbors_same_class", the share of the neighbours' weight in
// the query's class. May be shared between threads; the observers of a round must be gone before
// one of the next is made.
class FalseNegatives {
 public:
  explicit FalseNegatives(const LabeledClients& clients);

  std::unique_ptr<StepObserver> Observe(int client, const RemoteFeatures& remote);

 private:
  // The classes that a shared feature is made of, with their weights.
  using Composition = std::vector<std::pair<int, double>>;

  const std::vector<Composition>& CompositionsOf(int client, int round);
  int LabelOf(int client, int64_t sample) const;

  friend class LabelObserver;
  LabeledClients clients_;
  std::vector<std::vector<double>> shares_;  // pi
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::vector<Composition>> made_;  // by client and round
};

}  // namespace kindred
