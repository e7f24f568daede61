#include "partition/by_folder.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(ByFolder, EachFolderIsAClientOfItsName) {
  const std::vector<int> folders = {1, 0, 1, 1};
  const std::vector<std::string> names = {"north", "south"};
  const Partition partition =
      DealByFolder({.images = 4, .folders = folders, .folder_names = names});
  EXPECT_EQ(partition.names, names);
  EXPECT_EQ(partition.clients, (std::vector<std::vector<int>>{{1}, {0, 2, 3}}));
}

}  // namespace
}  // namespace kindred
