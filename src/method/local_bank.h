// Q_l: a client's own bank of keys, kept over rounds.
#pragma once

#include <span>

#include "model/named_tensors.h"

namespace kindred {

// An empty ring for `size` keys of `dim` numbers, as tensors that can be saved: "bank" [size, dim],
// "bank_samples" [size], whose keys they are, and "bank_count", how many were ever put in.
NamedTensors NewLocalBank(int64_t size, int64_t dim);

// The keys in the ring: [min(count, size), dim], sharing its memory.
at::Tensor BankKeys(const NamedTensors& local);

// The position in the client's data of each of those keys: [min(count, size)] int64, sharing
// memory.
at::Tensor BankSamples(const NamedTensors& local);

// Puts keys [B, dim] in, over the oldest, of the samples at these B positions. B need not divide
// the size; of more keys than fit, the last stay.
void Enqueue(NamedTensors& local, const at::Tensor& keys, std::span<const int> samples);

}  // namespace kindred
