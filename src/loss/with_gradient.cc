#include "loss/with_gradient.h"

#include <torch/torch.h>

namespace kindred {
namespace {

struct KnownGradient : torch::autograd::Function<KnownGradient> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& loss, const at::Tensor& gradient) {
    (void)x;
    context->save_for_backward({gradient});
    return loss.clone();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outer) {
    return {context->get_saved_variables()[0] * outer[0], at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor WithGradient(const at::Tensor& x, const at::Tensor& loss, const at::Tensor& gradient) {
  return KnownGradient::apply(x, loss, gradient);
}

}  // namespace kindred
