#include "partition/plot.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(PartitionSvg, DrawsADiskForEachOwnedClassAndEscapesNames) {
  Dataset dataset;
  dataset.label_names = {"a<b", "c&d"};
  dataset.train.images.count = 4;
  dataset.train.labels = {0, 0, 1, 1};
  const Partition partition = {.clients = {{0, 1, 2}, {3}}, .names = {"\"x\"", "y"}};
  const std::string svg = PartitionSvg(partition, dataset, "title");
  EXPECT_EQ(Count(svg, "<circle"), 3u);
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
  EXPECT_NE(svg.find("c&amp;d"), std::string::npos);
  EXPECT_NE(svg.find("&quot;x&quot;"), std::string::npos);
  EXPECT_NE(svg.find("3 images"), std::string::npos);
}

TEST(PartitionSvg, DrawsUnlabeledImagesAsOneColumn) {
  Dataset dataset;
  dataset.train.images.count = 2;
  const Partition partition = {.clients = {{0}, {1}}, .names = {"a", "b"}};
  EXPECT_EQ(Count(PartitionSvg(partition, dataset, "t"), "<circle"), 2u);
}

}  // namespace
}  // namespace kindred
