#include "method/local_bank.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"

namespace kindred {

NamedTensors NewLocalBank(int64_t size, int64_t dim) {
  return {{"bank", torch::zeros({size, dim})},
          {"bank_samples", torch::zeros({size}, torch::kInt64)},
          {"bank_count", torch::zeros({1}, torch::kInt64)}};
}

namespace {

at::Tensor Filled(const NamedTensors& local, const at::Tensor& ring) {
  const int64_t count = local.at("bank_count").data_ptr<int64_t>()[0];
  return ring.narrow(0, 0, std::min(count, ring.size(0)));
}

}  // namespace

at::Tensor BankKeys(const NamedTensors& local) { return Filled(local, local.at("bank")); }

at::Tensor BankSamples(const NamedTensors& local) {
  return Filled(local, local.at("bank_samples"));
}

void Enqueue(NamedTensors& local, const at::Tensor& keys, std::span<const int> samples) {
  Check(static_cast<int64_t>(samples.size()) == keys.size(0), "a key without its sample");
  torch::NoGradGuard no_gradient;
  auto& bank = local.at("bank");
  int64_t* bank_samples = local.at("bank_samples").data_ptr<int64_t>();
  int64_t& count = local.at("bank_count").data_ptr<int64_t>()[0];
  const int64_t size = bank.size(0), batch = keys.size(0);
  for (int64_t from = std::max<int64_t>(0, batch - size); from < batch;) {
    const int64_t place = (count + from) % size;
    const int64_t run = std::min(batch - from, size - place);  // to the end of the ring
    bank.narrow(0, place, run).copy_(keys.narrow(0, from, run));
    std::copy_n(samples.begin() + from, run, bank_samples + place);
    from += run;
  }
  count += batch;
}

}  // namespace kindred
