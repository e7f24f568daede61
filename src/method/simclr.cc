#include "method/simclr.h"

#include <torch/torch.h>

#include "loss/nt_xent.h"
#include "method/one_model.h"

namespace kindred {
namespace {

class Simclr : public OneNetwork {
 public:
  explicit Simclr(const MethodContext& context)
      : OneNetwork(context), tau_(context.method.Of<SimclrOptions>().tau) {}

  // Both views go through the network in one pass of 2B, as in SimCLR: batch norm sees them
  // together.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    const auto z = model_(torch::cat({batch.first, batch.second}));  // [2B, D]
    numbers_.Saw(z);
    return NtXent(z, torch::empty({0, z.size(1)}), tau_);
  }

 private:
  double tau_;
};

}  // namespace

std::unique_ptr<Method> MakeSimclr(const MethodContext& context) {
  return std::make_unique<Simclr>(context);
}

}  // namespace kindred
