// What a run is wired from, made of its configuration in one place for every way to run it.
#pragma once

#include <memory>

#include "client/round.h"
#include "method/method.h"
#include "model/encoder.h"
#include "run/experiment.h"
#include "server/round_loop.h"

namespace kindred {

// What images the models of a run take.
ImageKind ImageKindOf(const Dataset& dataset);
ImageKind ImageKindOf(const EncoderInput& input, int classes);
EncoderInput InputOf(const ImageKind& images);

// What the models of a run have in common, without a foundation.
MethodContext ContextOf(const Experiment& experiment, const ImageKind& images);

// The method with its initial weights. Throws a usage error when the splits of [model] do not fit
// the batch or the method.
std::unique_ptr<Method> MakeFittingMethod(const MethodContext& context);

// How each client trains.
ClientOptions ClientOptionsOf(const Experiment& experiment, const Normalization& normalization);

// What the server does each round. Who the clients are is left to the caller.
RoundLoopOptions RoundsOf(const Experiment& experiment, const Method& method);

}  // namespace kindred
