// How far an update usually moves the model: the measure of the bound on one that goes further.
#pragma once

#include <string>
#include <vector>

namespace kindred {

struct UsualDelta {
  double norm = 0;   // |theta_c - theta|; 0: not known
  double steps = 0;  // 0: not known

  bool operator==(const UsualDelta&) const = default;
};

// Lower medians over the updates of a round: of two clients the hostile one cannot raise the
// measure. At least one update.
UsualDelta UsualOf(const std::vector<UsualDelta>& updates);

// The last rounds' usual updates, newest last.
using RecentDeltas = std::vector<UsualDelta>;

// Adds a round's; the oldest goes when there are more than five.
void AddRound(RecentDeltas& recent, const UsualDelta& of_round);

// What is usual now: the lower median of the last rounds, so that who moves one round's measure
// does not move it, and no less than
//
//   |theta| / 20 x sqrt(lr of the round / lr of the first)
//
// so that nobody's tiny updates have the honest ones refused. Those moved by .2 to .3 |theta| in a
// lab run's second round and by .007 to .016 in the last of 20, at .006 of the rate (FedSimCLR,
// CCL). Without rounds it is |theta|.
UsualDelta UsualNow(const RecentDeltas& recent, double model_norm, double lr_share);

// As text that loses no bit, and back. Throws a data error for another text.
std::string DeltasToText(const RecentDeltas& recent);
RecentDeltas DeltasFromText(const std::string& text);

}  // namespace kindred
