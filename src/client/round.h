// One round on one client: E epochs of SGD from the global model.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "augment/views.h"
#include "base/config.h"
#include "client/client_report.h"
#include "data/dataset.h"
#include "method/method.h"
#include "model/named_tensors.h"
#include "privacy/secret_stream.h"
#include "privacy/shared_features.h"

namespace kindred {

// How a client trains in every round: part of [train], and [privacy].
struct ClientOptions {
  int epochs = 2;
  int batch = 64;
  double momentum = 0.9;  // SGD's; its buffers start anew each round
  double weight_decay = 5e-4;
  ViewRecipe views;
  PrivacyOptions privacy;
  FeatureOptions features = {};
  uint64_t seed = 0;
};

// What travels out to a client of a round.
struct Plan {
  int round = 0;
  int rounds = 1;  // of the whole run
  double lr = 0;
  NamedTensors model;  // the global model, Method::Shared(): one for all plans, not to be changed
  RemoteFeatures remote;  // Q_s: what the others have shared
};

// What travels back. Of images it can carry protected features alone.
struct Update {
  int client = 0;
  NamedTensors model;
  ProtectedFeatures features;  // none, or at most Method::FeaturesToShare()
  ClientReport report;
};

// What a client has of a round. Only the update may leave it; the rest is for simulations.
struct Outcome {
  Update update;
  PlainFeatures plain;  // of a mechanism that does not travel, instead of protected ones
  Metrics observed;     // by the observer
};

// Who trains, and on what.
struct ClientData {
  int client = 0;  // place in the enrolment list
  Images images;
  Secret secret;                 // hides what is shared of the images
  std::vector<int> labels = {};  // for methods that use them; empty else
};

// Looks at a client's steps from outside. In simulations it may know labels; training does not.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void Step(const Batch& batch, const StepTrace& trace) = 0;
  virtual Metrics End() const = 0;
};

// Seen by long loops; all optional.
struct RoundHooks {
  const std::atomic<bool>* stop = nullptr;       // set: leave by Interrupted at the next step
  std::function<void(int images)> on_step = {};  // called after each step with the batch's images
  std::function<std::unique_ptr<StepObserver>(int client, const RemoteFeatures& remote)> observe =
      {};
};

// Trains `method` on the client's images from plan.model and its local state, which is changed in
// place. The features that it shares are made afterwards, or before by features.encoder = "global".
// Depends on its arguments alone. Throws a usage
// error when the loss is not finite.
Outcome TrainClient(Method& method, const Plan& plan, const ClientData& data,
                    const ClientOptions& options, NamedTensors& local, const RoundHooks& hooks);

}  // namespace kindred
