#include "method/local_bank.h"

#include <torch/torch.h>

#include <algorithm>

namespace kindred {

NamedTensors NewLocalBank(int64_t size, int64_t dim) {
  return {{"bank", torch::zeros({size, dim})}, {"bank_count", torch::zeros({1}, torch::kInt64)}};
}

at::Tensor BankKeys(const NamedTensors& local) {
  const auto& bank = local.at("bank");
  const int64_t count = local.at("bank_count").data_ptr<int64_t>()[0];
  return bank.narrow(0, 0, std::min(count, bank.size(0)));
}

void Enqueue(NamedTensors& local, const at::Tensor& keys) {
  torch::NoGradGuard no_gradient;
  auto& bank = local.at("bank");
  int64_t& count = local.at("bank_count").data_ptr<int64_t>()[0];
  const int64_t size = bank.size(0), batch = keys.size(0);
  for (int64_t from = std::max<int64_t>(0, batch - size); from < batch;) {
    const int64_t place = (count + from) % size;
    const int64_t run = std::min(batch - from, size - place);  // to the end of the ring
    bank.narrow(0, place, run).copy_(keys.narrow(0, from, run));
    from += run;
  }
  count += batch;
}

}  // namespace kindred
