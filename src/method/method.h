// A method: how one client learns. The seam that each method of the table (method_kinds.h) fills.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/interrupted.h"
#include "base/rng.h"
#include "method/method_kinds.h"
#include "method/method_options.h"
#include "model/model_options.h"
#include "model/named_tensors.h"
#include "privacy/feature_options.h"
#include "privacy/privacy_options.h"
#include "privacy/shared_features.h"

namespace kindred {

// Names the randomness of one step of one client.
struct StepKey {
  uint64_t seed = 0;
  uint32_t round = 0;
  uint32_t client = 0;
  uint32_t epoch = 0;
  uint64_t step = 0;
};

// What a step draws for a purpose; `part` tells several draws of one purpose apart.
Rng StepRng(Purpose purpose, const StepKey& key, uint32_t part = 0);

// Two views of the images of a step, [B, C, H, W], normalised. Row i of both is the same image.
struct Batch {
  at::Tensor first, second;
  StepKey key;
  std::vector<int> samples = {};  // their positions in the client's data
  at::Tensor labels = {};         // [B] int64; undefined unless Method::UsesLabels()
};

// What a round begins with, beside the shared tensors.
struct RoundStart {
  int round = 0;
  int rounds = 1;         // of the whole run
  RemoteFeatures remote;  // what others have shared; empty: nothing yet
};

// What an epoch begins with.
struct EpochStart {
  StepKey key;     // its first step
  int images = 0;  // of the client
  // Shows batches that together hold every image of the client once, in the epoch's views. Nothing
  // is trained on them.
  std::function<void(const std::function<void(const Batch&)>& look)> each_batch;
};

// Numbers about a round, by name: means over its steps, or its end.
using Metrics = std::map<std::string, double>;

// What a step used beside the batch, for an observer that knows labels. Rows of the union of both
// banks are counted remote first.
struct StepTrace {
  bool local = false, remote = false;  // which banks were the negatives
  double remote_weight = 1;            // what a remote negative counts; a local one counts 1
  at::Tensor bank_samples;             // [L] int64: whose key each row of the local bank is
  at::Tensor candidates;               // [M] int64: rows of the union; undefined: no matching
  at::Tensor neighbors;                // [B, N] int64: places in `candidates`
};

// What one client trains, keeps and sends. An instance is one resident model: a worker takes
// clients through it one after the other, so it must hold nothing of a client outside `local`. Not
// to be shared between threads.
class Method {
 public:
  virtual ~Method() = default;

  // Everything that travels and is averaged, sharing memory with the model: write here to set it.
  virtual NamedTensors Shared() const = 0;

  // Where in Shared() the encoder f is that evaluation takes, such as "q/encoder".
  virtual std::string EncoderPrefix() const = 0;

  // What SGD changes.
  virtual std::vector<at::Tensor> Trained() const = 0;

  // What a client that has never trained keeps between rounds. What takes `local` may change it and
  // add to it.
  virtual NamedTensors NewLocalState() const = 0;

  // Whether Loss needs labels. A method that says no never gets any.
  virtual bool UsesLabels() const { return false; }

  // Before a client's first step of a round; Shared() is set.
  virtual void BeginRound(const RoundStart&, NamedTensors&) {}

  // Before the first step of each epoch.
  virtual void BeginEpoch(const EpochStart&, NamedTensors&) {}

  // The loss of a step, a scalar to differentiate.
  virtual at::Tensor Loss(const Batch& batch, NamedTensors& local) = 0;

  // What the last Loss used; valid until AfterStep. Null: nothing worth observing.
  virtual const StepTrace* Trace() const { return nullptr; }

  // After SGD's step on that loss.
  virtual void AfterStep(NamedTensors& local) = 0;

  // After the last step of a round.
  virtual Metrics EndRound(NamedTensors&) { return {}; }

  // How many features the others use of a client, at most; 0: none.
  virtual int FeaturesToShare() const { return 0; }

  // The unit features that others use, [n, D], of n normalised images; changes nothing.
  virtual at::Tensor FeaturesOf(const at::Tensor& images);

  // Whether its features go through a batch norm, which learns nothing from one image: a client
  // needs two.
  virtual bool NormsFeatures() const { return false; }

  // Whether views of an image are normed in other groups than each other, so that a batch may be
  // split.
  virtual bool ShufflesBatches() const { return false; }
};

// What a method learns from beside the clients' images, the same for every model of a run: FedCA's
// base model of public images. The other methods have none.
class Foundation {
 public:
  virtual ~Foundation() = default;

  // Makes it before the first round; may take minutes. A second call does nothing. Throws
  // Interrupted when `stop` is set.
  virtual void Make(const std::atomic<bool>* stop) = 0;

  // Of the images that it is made of; before Make.
  virtual std::string DataHash() const = 0;
};

// What the models of a run have in common.
struct MethodContext {
  ModelOptions model;
  MethodOptions method;
  PrivacyOptions privacy = {};
  FeatureOptions features = {};
  int channels = 3;  // of the images
  int classes = 0;   // for methods that use labels
  int batch = 64;
  uint64_t seed = 0;  // of the initial weights
  int side = 32;      // of the images; 0: they are not square
  std::shared_ptr<const Foundation> foundation =
      {};  // of training alone; null: the method has none
};

// What others have shared, [M, dim] with M >= 0. Throws a network error when it cannot be features,
// or when there are more than `most` rows; 0: any number. `unit_rows`: MechanismKind::unit_rows.
at::Tensor CheckedRemote(const RoundStart& start, int64_t dim, int64_t most, bool unit_rows);

// Throws a usage error unless images are square, for methods that turn or scale them.
void CheckSquare(const MethodContext& context);

// Throws a usage error unless a batch has the two images that a projector's batch norm needs.
void CheckBatchNorm(const MethodContext& context);

// Names in Shared() of the tensors that SGD changes.
std::vector<std::string> TrainedNames(const Method& method);

// What the method's models need before they train; null: nothing. Reads its images now, so that an
// error comes early. `data`: the name of the clients' dataset; empty: noise, to measure speed, and
// the foundation is noise too. `folder`: where what took long is kept for a run that goes on;
// empty: nowhere.
std::shared_ptr<Foundation> MakeFoundation(const MethodContext& context, const std::string& data,
                                           const std::filesystem::path& folder);

// The method of that name with its initial weights. Throws a usage error when options do not fit.
std::unique_ptr<Method> MakeMethod(const MethodContext& context);

}  // namespace kindred
