#include "kernel/patch_conv.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/channels_last.h"

namespace kindred {
namespace {

TEST(PatchConv, IsTheConvolutionAndItsGradients) {
  for (const Window window : {Window{1, 2}, Window{3, 2}, Window{3, 1}, Window{1, 1}}) {
    for (const auto& s : std::vector<ConvShape>{{1, 1, 1, 3, 5},
                                                {2, 8, 8, 4, 6},
                                                {3, 7, 7, 24, 8},
                                                {9, 5, 4, 32, 64},
                                                {2, 5, 9, 3, 1},
                                                {6, 33, 31, 8, 16}}) {
      torch::manual_seed(window.size);
      auto x = torch::randn({s.batch, s.in, s.height, s.width}, torch::kDouble).requires_grad_();
      auto w =
          torch::randn({s.out, s.in, window.size, window.size}, torch::kDouble).requires_grad_();
      const auto y = torch::conv2d(x, w, {}, window.stride, window.size / 2);
      const auto dy = torch::randn_like(y);
      y.backward(dy);
      auto own_x = Last(x), own_dy = Last(dy), own_w = w.detach().to(torch::kFloat).contiguous();
      for (const int workers : {1, 3}) {
        const KernelOptions options = {.workers = workers};
        auto own_y = torch::full_like(own_dy, NAN), dx = torch::ones_like(own_x),
             dw = torch::full_like(own_w, NAN);
        PatchForward(s, window, Values(own_x), Values(own_w), Values(own_y), options);
        ExpectNear(own_y, Last(y), "y");
        PatchWeightGradient(s, window, Values(own_x), Values(own_dy), Values(dw), options);
        ExpectNear(dw, w.grad(), "dw");
        PatchDataGradient(s, window, Values(own_dy), Values(own_w), true, Values(dx), options);
        ExpectNear(dx - 1, Last(x.grad()), "dx added");
        dx.fill_(NAN);
        PatchDataGradient(s, window, Values(own_dy), Values(own_w), false, Values(dx), options);
        ExpectNear(dx, Last(x.grad()), "dx");
      }
    }
  }
}

TEST(PatchConv, WorkersChangeNoBit) {
  const ConvShape s = {13, 33, 31, 16, 24};  // 7 groups of images
  torch::manual_seed(1);
  auto x = torch::randn({s.batch, s.height, s.width, s.in}), w = torch::randn({s.out, s.in, 3, 3}),
       dy = torch::randn({s.batch, 17, 16, s.out});
  std::vector<at::Tensor> first;
  for (const int workers : {1, 2, 5}) {
    auto y = torch::empty_like(dy), dx = torch::empty_like(x), dw = torch::empty_like(w);
    PatchForward(s, {3, 2}, Values(x), Values(w), Values(y), {.workers = workers});
    PatchDataGradient(s, {3, 2}, Values(dy), Values(w), false, Values(dx), {.workers = workers});
    PatchWeightGradient(s, {3, 2}, Values(x), Values(dy), Values(dw), {.workers = workers});
    if (first.empty()) first = {y, dx, dw};
    EXPECT_TRUE(torch::equal(first[0], y));
    EXPECT_TRUE(torch::equal(first[1], dx));
    EXPECT_TRUE(torch::equal(first[2], dw));
  }
}

}  // namespace
}  // namespace kindred
