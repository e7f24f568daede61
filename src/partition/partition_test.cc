#include "partition/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/throws.h"

namespace kindred {
namespace {

// `classes` classes with `each` images in turn, in as many folders.
Dataset Labeled(int classes, int each) {
  Dataset dataset;
  dataset.name = "test";
  for (int l = 0; l < classes; ++l) {
    dataset.label_names.push_back(fmt::format("c{}", l));
    dataset.folder_names.push_back(fmt::format("f{}", l));
  }
  dataset.train.images.count = classes * each;
  for (int i = 0; i < classes * each; ++i) {
    dataset.train.labels.push_back(i % classes);
    dataset.train.folders.push_back(i % classes);
  }
  return dataset;
}

// Every scheme of the table keeps the contract: each image once, none empty, rising, reproducible.
TEST(PartitionSchemes, CoverEveryImageExactlyOnce) {
  for (const auto& scheme : PartitionSchemes()) {
    for (const auto& [classes, each] : {std::pair{10, 50}, {20, 7}, {100, 11}}) {
      const Dataset dataset = Labeled(classes, each);
      const Partition partition = MakePartition(dataset, {.scheme = scheme.name, .seed = 3});
      std::vector<int> all;
      for (const auto& own : partition.clients) {
        EXPECT_FALSE(own.empty());
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
        all.insert(all.end(), own.begin(), own.end());
      }
      std::sort(all.begin(), all.end());
      ASSERT_EQ(static_cast<int>(all.size()), classes * each) << scheme.name;
      for (int i = 0; i < classes * each; ++i) ASSERT_EQ(all[static_cast<size_t>(i)], i);
      EXPECT_EQ(partition.names.size(), partition.clients.size());
    }
  }
}

TEST(PartitionSchemes, DependOnTheSeedAlone) {
  const Dataset dataset = Labeled(10, 40);
  for (const auto& scheme : PartitionSchemes()) {
    const auto hash = [&](uint64_t seed) {
      return PartitionHash(MakePartition(dataset, {.scheme = scheme.name, .seed = seed}));
    };
    EXPECT_EQ(hash(1), hash(1));
    const bool drawn = std::string(scheme.name) != "by_folder";
    EXPECT_EQ(hash(1) != hash(2), drawn) << scheme.name;
  }
}

// The digests themselves: a change of the drawing code must not go unnoticed, since partitions are
// part of published results.
TEST(PartitionSchemes, AreWhatTheyWere) {
  const Dataset dataset = Labeled(10, 20);
  const auto hash = [&](const char* scheme) {
    return PartitionHash(MakePartition(dataset, {.scheme = scheme, .seed = 7})).substr(0, 16);
  };
  EXPECT_EQ(hash("iid"), "579dda1932162490");
  EXPECT_EQ(hash("noniid1"), "04debe4cf9d6dcc3");
  EXPECT_EQ(hash("noniid2"), "f76d19edd3244428");
  EXPECT_EQ(hash("dirichlet"), "a18f71c749fa1d6e");  // its gamma variates are libstdc++'s
}

TEST(MakePartition, RefusesWhatCannotBeDealt) {
  Dataset dataset = Labeled(10, 4);
  const auto expect = [&](const std::string& part, const PartitionOptions& options) {
    ExpectError(ExitCode::kUsage, part, [&] { MakePartition(dataset, options); });
  };
  expect("no such scheme", {.scheme = "fair"});
  expect("more clients than the 40", {.clients = 41});
  expect("must be 10", {.scheme = "noniid1", .clients = 3});
  expect("must be 10", {.scheme = "noniid1", .clients = 11});
  expect("must be 10", {.scheme = "noniid1", .classes_per_client = 3});
  expect("multiple of 10", {.scheme = "noniid2", .clients = 3});
  expect("multiple of 10", {.scheme = "noniid2", .clients = 10, .classes_per_client = 11});
  expect("but there are 10 folders", {.scheme = "by_folder", .clients = 3});
  expect("raise partition.alpha", {.scheme = "dirichlet", .clients = 35, .alpha = 0.001});
  dataset.train.labels.clear();
  expect("needs labels", {.scheme = "noniid1"});
  dataset.train.folders.clear();
  expect("not in folders", {.scheme = "by_folder"});
}

TEST(PartitionTable, ShowsEachClientsClasses) {
  const Dataset dataset = Labeled(2, 3);
  const Partition partition = {.clients = {{0, 2, 4, 1}, {3, 5}}, .names = {"a", "b"}};
  EXPECT_EQ(PartitionTable(partition, dataset),
            "client  images  c0  c1\n"
            "a            4   3   1\n"
            "b            2       2\n");
  const Dataset many = Labeled(30, 2);
  const Partition whole = MakePartition(many, {.clients = 1});
  EXPECT_NE(PartitionTable(whole, many).find("c0 2, c1 2, c2 2, c3 2, 26 more"), std::string::npos);
}

}  // namespace
}  // namespace kindred
