#include "export/scatter.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "data/image_file.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(Scatter, DrawsBothKinds) {
  torch::manual_seed(1);
  Scatter scatter = {.points = torch::randn({50, 2}, torch::kDouble), .title = "<b>&\n"};
  for (int i = 0; i < 50; ++i) scatter.groups.push_back(i % 40);
  for (int i = 0; i < 40; ++i) scatter.names.push_back(fmt::format("class {}", i));
  const Bytes svg = DrawScatter(scatter, PictureKindOf("a.svg"));
  const std::string text(svg.begin(), svg.end());
  EXPECT_NE(text.find("<svg"), std::string::npos);
  EXPECT_EQ(text.find("<b>"), std::string::npos) << "a name is never markup";
  const Bytes png = DrawScatter(scatter, PictureKindOf("a.png"));
  EXPECT_EQ(DecodeImage(png, 3, "a.png").shape.width, 830);
  scatter.points = torch::zeros({1, 2}, torch::kDouble);  // no extent
  scatter.groups.clear();
  scatter.names.clear();
  EXPECT_GT(DrawScatter(scatter, PictureKind::kPng).size(), 100u);
  ExpectError(ExitCode::kUsage, ".svg or .png", [&] { PictureKindOf("a.gif"); });
}

}  // namespace
}  // namespace kindred
