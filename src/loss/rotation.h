// The task of telling how an image was turned.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// x: [B, C, S, S] -> [4B, C, S, S]: row r B + i is image i turned r quarters counterclockwise
// (Gidaris et al. 2018: all four at a time).
at::Tensor FourTurns(const at::Tensor& x);

// The turn r of each of those rows: [4B] int64.
at::Tensor TurnsOf(int64_t batch);

// Cross-entropy of the turn, mean over the rows. logits: [4B, 4]. ln 4 when they say nothing.
at::Tensor RotationLoss(const at::Tensor& logits);

}  // namespace kindred
