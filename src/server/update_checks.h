// Whether an update can be what it says: everything is checked before any of it is used.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/feature_checks.h"
#include "server/usual_delta.h"
#include "transport/transport.h"

namespace kindred {

// What the server knows of a client and its round.
struct UpdateLimits {
  const NamedTensors& global;  // the model it was sent
  int64_t enrolled = 0;        // |D_c| it enrolled with; 0: not known
  int64_t most_images = 0;     // what the weights of the round still have room for
  int epochs = 1, batch = 1;
  const std::set<std::string>* metrics = nullptr;  // names that there may be; null: any
  double max_norm = 0;    // of theta_c - theta, variances by their roots; 0: none
  double norm_ratio = 0;  // times the usual one; 0: none
  UsualDelta usual = {};
  int features_width = 0, features_most = 0;
  bool unit_rows = true;                // features have length 1
  const OrderedRows* shared = nullptr;  // features that clients have shared; null: none
};

// Why an update is refused; nullopt: it counts. The reasons:
//   manifest  other tensors, shapes or kinds than the global model's
//   values    a float that is not finite or of 2^20 and above, a running variance that is not
//             positive, a counter that is negative or that no round could have reached
//   images    not the number enrolled, or less than one
//   full      more images than the sum of weights still takes: not this client's fault
//   norm      further from the global model than max_norm, or than norm_ratio times the usual; of a
//             client with more steps than usual, so many times more
//   features  not unit rows of that width, more than it may share, nearly all the same, or copied
//   numbers   a loss, a step count or a metric that cannot be
// `norm`, when given, gets |theta_c - theta| of an update that counts. Depends on its arguments
// alone. Reads the model once.
std::optional<Refused> CheckUpdate(const Arrival& arrival, const UpdateLimits& limits,
                                   double* norm = nullptr);

}  // namespace kindred
