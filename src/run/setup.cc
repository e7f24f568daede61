#include "run/setup.h"

#include "base/error.h"
#include "privacy/mechanism_kinds.h"

namespace kindred {
namespace {

int SideOf(const ImageShape& shape) { return shape.height == shape.width ? shape.height : 0; }

void CheckSplits(const Method& method, const MethodContext& context) {
  const bool whole = method.NormsFeatures() && !method.ShufflesBatches();
  if (!whole || context.model.bn_splits == 1) return;
  throw UsageError(
      "model.bn_splits = {}: the batch norm of method.name = {} must see a batch whole; set "
      "model.bn_splits = 1, as its file in configs/methods does, which goes after the scale's",
      context.model.bn_splits, Printable(context.method.name));
}

}  // namespace

ImageKind ImageKindOf(const Dataset& dataset) {
  const Images& images = dataset.train.images;
  return {.channels = images.channels,
          .side = SideOf({images.channels, images.height, images.width}),
          .classes = dataset.train.labels.empty() ? 0 : dataset.Classes(),
          .normalization = dataset.normalization};
}

ImageKind ImageKindOf(const EncoderInput& input, int classes) {
  return {.channels = input.shape.channels,
          .side = SideOf(input.shape),
          .classes = classes,
          .normalization = input.normalization};
}

EncoderInput InputOf(const ImageKind& images) {
  return {{images.channels, images.side, images.side}, images.normalization};
}

MethodContext ContextOf(const Experiment& experiment, const ImageKind& images) {
  return {.model = experiment.model,
          .method = experiment.method,
          .privacy = experiment.privacy,
          .features = experiment.features,
          .channels = images.channels,
          .classes = images.classes,
          .batch = experiment.train.batch,
          .seed = experiment.train.seed,
          .side = images.side};
}

std::unique_ptr<Method> MakeFittingMethod(const MethodContext& context) {
  if (context.batch % context.model.bn_splits != 0) {
    throw UsageError("train.batch = {} is not a multiple of model.bn_splits = {}", context.batch,
                     context.model.bn_splits);
  }
  auto method = MakeMethod(context);
  CheckSplits(*method, context);
  return method;
}

ClientOptions ClientOptionsOf(const Experiment& experiment, const Normalization& normalization) {
  const TrainOptions& train = experiment.train;
  return {.epochs = train.epochs,
          .batch = train.batch,
          .momentum = train.momentum,
          .weight_decay = train.weight_decay,
          .views = {experiment.views, normalization},
          .privacy = experiment.privacy,
          .features = experiment.features,
          .seed = train.seed};
}

RoundLoopOptions RoundsOf(const Experiment& experiment, const Method& method) {
  return {.train = experiment.train,
          .features = experiment.features,
          .rule = experiment.rule,
          .optimizer = experiment.optimizer,
          .trained = TrainedNames(method),
          .metrics = MetricNamesOf(experiment.method.name),
          .limits = experiment.limits,
          .features_width = experiment.model.dim,
          .features_most = method.FeaturesToShare(),
          .unit_rows = MechanismOf(experiment.privacy).unit_rows};
}

}  // namespace kindred
