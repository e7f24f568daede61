#include "run/own_data.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/throws.h"

namespace kindred {
namespace {

Experiment Shapes(const std::string& share) {
  Experiment experiment;
  experiment.data.name = "shapes";
  experiment.data.limit = 100;
  experiment.partition.scheme = "noniid1";
  experiment.join.share = share;
  return experiment;
}

TEST(ShareOf, IsAllImagesOrAPartOfThePartition) {
  const Dataset dataset = LoadDataset(Shapes("").data);
  EXPECT_EQ(ShareOf(dataset, Shapes("")).images.size(), 100);
  std::multiset<int> dealt;
  for (int i = 0; i < 5; ++i) {
    const OwnShare own = ShareOf(dataset, Shapes(std::to_string(i) + "/5"));
    EXPECT_EQ(own.place, i);
    dealt.insert(own.images.begin(), own.images.end());
  }
  EXPECT_EQ(dealt.size(), 100);
  EXPECT_EQ(std::set<int>(dealt.begin(), dealt.end()).size(), 100);
}

TEST(ShareOf, NamesWhatIsNoShare) {
  const Dataset dataset = LoadDataset(Shapes("").data);
  for (const char* share : {"5/5", "-1/5", "1", "1/", "/5", "a/5", "1/5x"}) {
    ExpectError(ExitCode::kUsage, "client.share", [&] { ShareOf(dataset, Shapes(share)); });
  }
  ExpectError(ExitCode::kUsage, "has 5 clients", [&] { ShareOf(dataset, Shapes("0/3")); });
}

}  // namespace
}  // namespace kindred
