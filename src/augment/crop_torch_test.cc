// The crop against LibTorch's bilinear interpolation, over many sizes.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "augment/crop.h"

namespace kindred {
namespace {

TEST(ResizedCropTorch, EqualsInterpolateOverAGridOfBoxes) {
  torch::manual_seed(1);
  for (const int side : {1, 2, 7, 28, 32, 33}) {
    const auto pixels = torch::randint(0, 256, {3, side, side}, torch::kUInt8);
    const auto count = static_cast<size_t>(pixels.numel());
    const std::span<const uint8_t> bytes(pixels.data_ptr<uint8_t>(), count);
    for (const int height : {1, (side + 1) / 2, side}) {
      for (const int width : {1, (2 * side + 2) / 3, side}) {
        const int top = (side - height) / 2, left = side - width;
        auto mine = torch::empty({3, side, side});
        ResizedCrop(bytes, {3, side, side}, {top, left, height, width},
                    std::span<float>(mine.data_ptr<float>(), count));
        const auto box = pixels.slice(1, top, top + height).slice(2, left, left + width);
        const auto theirs =
            torch::nn::functional::interpolate(box.unsqueeze(0).to(torch::kFloat) / 255,
                                               torch::nn::functional::InterpolateFuncOptions()
                                                   .size(std::vector<int64_t>{side, side})
                                                   .mode(torch::kBilinear)
                                                   .align_corners(false));
        ASSERT_LE((mine - theirs[0]).abs().max().item<float>(), 1e-6f)
            << side << " " << height << " " << width;
      }
    }
  }
}

}  // namespace
}  // namespace kindred
