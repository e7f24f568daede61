#include "server/feature_pool.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "tests/throws.h"

namespace kindred {
namespace {

// `count` rows (client, 0), (client, 1), ...
at::Tensor PoolRows(int client, int count) {
  auto rows = torch::empty({count, 2});
  for (int i = 0; i < count; ++i) {
    rows[i][0] = static_cast<float>(client);
    rows[i][1] = static_cast<float>(i);
  }
  return rows;
}

std::multiset<int> OwnersIn(const RemoteFeatures& remote) {
  std::multiset<int> owners;
  EXPECT_EQ(static_cast<int64_t>(remote.origins.size()), remote.Size());
  for (int64_t row = 0; row < remote.Size(); ++row) {
    const RowOrigin& origin = remote.origins[static_cast<size_t>(row)];
    EXPECT_EQ(remote.rows[row][0].item<float>(), static_cast<float>(origin.client));
    EXPECT_EQ(remote.rows[row][1].item<float>(), static_cast<float>(origin.row));
    owners.insert(origin.client);
  }
  return owners;
}

TEST(FeaturePool, AClientGetsTheOthersFeatures) {
  FeaturePool pool;
  pool.Replace(7, PoolRows(7, 1), 0);
  pool.Replace(0, PoolRows(0, 2), 0);
  pool.Replace(3, PoolRows(3, 3), 0);
  EXPECT_EQ(pool.Rows(), 6);
  EXPECT_EQ(OwnersIn(pool.RemoteFor(3, 1, 0, 0)), (std::multiset<int>{0, 0, 7}));
  EXPECT_EQ(OwnersIn(pool.RemoteFor(0, 1, 0, 0)), (std::multiset<int>{3, 3, 3, 7}));
  EXPECT_EQ(OwnersIn(pool.RemoteFor(5, 1, 0, 0)).size(), 6u) << "one that has shared nothing";
}

TEST(FeaturePool, APoolOfOneClientHasNothingForIt) {
  FeaturePool pool;
  EXPECT_EQ(pool.RemoteFor(0, 0, 0, 0).Size(), 0);
  pool.Replace(0, PoolRows(0, 4), 0);
  EXPECT_EQ(pool.RemoteFor(0, 1, 0, 0).Size(), 0);
  EXPECT_EQ(pool.RemoteFor(1, 1, 0, 0).Size(), 4);
}

TEST(FeaturePool, TheLatestFeaturesReplaceTheEarlier) {
  FeaturePool pool;
  pool.Replace(0, PoolRows(0, 4), 0);
  pool.Replace(0, PoolRows(0, 2), 3);
  const auto remote = pool.RemoteFor(1, 4, 0, 0);
  EXPECT_EQ(remote.Size(), 2);
  EXPECT_EQ(remote.origins[0].round, 3);
}

TEST(FeaturePool, OldFeaturesAreDropped) {
  FeaturePool pool;
  pool.Replace(0, PoolRows(0, 1), 2);
  pool.Replace(1, PoolRows(1, 1), 4);
  pool.DropOld(5, 3);  // 3 and 1 rounds old
  EXPECT_EQ(pool.Rows(), 2);
  pool.DropOld(6, 3);  // 4 and 2
  EXPECT_EQ(OwnersIn(pool.RemoteFor(9, 6, 0, 0)), (std::multiset<int>{1}));
}

TEST(FeaturePool, ACapTakesAUniformSampleOfAll) {
  FeaturePool pool;
  for (int client = 0; client < 4; ++client) pool.Replace(client, PoolRows(client, 5), 0);
  std::map<std::pair<int, int>, int> taken;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds; ++round) {
    const auto remote = pool.RemoteFor(3, round, 6, 9);
    ASSERT_EQ(remote.Size(), 6);
    OwnersIn(remote);
    for (const auto& origin : remote.origins) ++taken[{origin.client, origin.row}];
  }
  ASSERT_EQ(taken.size(), 15u);
  // Each of 15 rows in 6 of 15 draws: 240 of 600 with a deviation of 12.
  for (const auto& [row, count] : taken) EXPECT_NEAR(count, 240, 5 * 12);
  EXPECT_EQ(pool.RemoteFor(3, 0, 15, 9).Size(), 15) << "no cap that is not reached";
  EXPECT_TRUE(torch::equal(pool.RemoteFor(3, 4, 6, 9).rows, pool.RemoteFor(3, 4, 6, 9).rows));
}

TEST(FeaturePool, ComesBackFromItsTensors) {
  FeaturePool pool;
  pool.Replace(2, PoolRows(2, 3), 5);
  pool.Replace(11, PoolRows(11, 1), 6);
  const FeaturePool back = FeaturePool::FromTensors(pool.ToTensors());
  EXPECT_EQ(DigestOf(back.ToTensors()), DigestOf(pool.ToTensors()));
  EXPECT_EQ(back.RemoteFor(0, 7, 0, 0).origins.back().round, 6);
  NamedTensors without = pool.ToTensors();
  without.erase("round/2");
  ExpectError(ExitCode::kData, "feature pool", [&] { FeaturePool::FromTensors(without); });
  EXPECT_EQ(FeaturePool::FromTensors({}).Rows(), 0);
}

}  // namespace
}  // namespace kindred
