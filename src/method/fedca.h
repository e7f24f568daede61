// FedCA (Zhang et al. 2020), reimplemented from its description: SimCLR with a dictionary of other
// clients' features as further negatives, and alignment to a base model trained on public images.
#pragma once

#include <memory>

#include "method/fedca_options.h"
#include "method/method.h"

namespace kindred {

// Shared: "encoder/..." and "projector/...". Kept: "public", by which a resumed run knows
// that its public images are still the same. Travels as well: the dictionary, at
// most fedca.dictionary features per client.
std::unique_ptr<Method> MakeFedca(const MethodContext& context);

}  // namespace kindred
