// One round on one client: E epochs of SGD from the global model.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "augment/views.h"
#include "base/config.h"
#include "data/dataset.h"
#include "method/method.h"
#include "model/named_tensors.h"

namespace kindred {

// How a client trains in every round: part of [train].
struct ClientOptions {
  int epochs = 2;
  int batch = 64;
  double momentum = 0.9;  // SGD's; its buffers start anew each round
  double weight_decay = 5e-4;
  ViewRecipe views;
  uint64_t seed = 0;
};

// What travels out to every client of a round.
struct Plan {
  int round = 0;
  double lr = 0;
  NamedTensors model;  // the global model: Method::Shared()
};

// What travels back.
struct Update {
  int client = 0;
  NamedTensors model;
  int64_t images = 0;  // |D_c|: the weight of the average
  double loss = 0;     // mean over the round's steps
  int64_t steps = 0;
  int64_t seen = 0;  // images that went through training, an epoch's drop-outs left out
};

// Who trains, and on what.
struct ClientData {
  int client = 0;  // place in the enrolment list
  Images images;
};

// Thrown out of a round when the program is asked to stop.
struct Interrupted {};

// Seen by long loops; all optional.
struct RoundHooks {
  const std::atomic<bool>* stop = nullptr;       // set: leave by Interrupted at the next step
  std::function<void(int images)> on_step = {};  // called after each step with the batch's images
};

// Trains `method` on the client's images from plan.model and its local state, which is changed in
// place. Depends on its arguments alone. Throws a usage error when the loss is not finite.
Update TrainClient(Method& method, const Plan& plan, const ClientData& data,
                   const ClientOptions& options, NamedTensors& local, const RoundHooks& hooks);

}  // namespace kindred
