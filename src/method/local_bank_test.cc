#include "method/local_bank.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <deque>

namespace kindred {
namespace {

// Keys first, first + 1, ... as rows (value, -value).
torch::Tensor BankRows(int64_t first, int64_t count) {
  const auto column = torch::arange(first, first + count, torch::kFloat32).view({count, 1});
  return torch::cat({column, -column}, 1);
}

std::vector<int> BankValues(const NamedTensors& local) {
  std::vector<int> values;
  const auto keys = BankKeys(local);
  for (int64_t i = 0; i < keys.size(0); ++i) {
    values.push_back(static_cast<int>(keys[i][0].item<float>()));
    EXPECT_EQ(keys[i][1].item<float>(), -keys[i][0].item<float>()) << "rows stay whole";
    EXPECT_EQ(BankSamples(local)[i].item<int64_t>(), 100 + values.back());
  }
  return values;
}

// Row i is of sample 100 + its value.
void EnqueueRows(NamedTensors& local, const torch::Tensor& rows) {
  std::vector<int> samples;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    samples.push_back(100 + static_cast<int>(rows[i][0].item<float>()));
  }
  Enqueue(local, rows, samples);
}

TEST(LocalBank, IsEmptyAtTheStart) {
  const auto local = NewLocalBank(5, 2);
  EXPECT_EQ(BankKeys(local).sizes(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(local.at("bank").sizes(), (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(local.at("bank_count").item<int64_t>(), 0);
  EXPECT_EQ(local.size(), 3u);
}

TEST(LocalBank, OverwritesTheOldestWhenBatchesDoNotDivideIt) {
  auto local = NewLocalBank(5, 2);
  EnqueueRows(local, BankRows(1, 3));
  EXPECT_EQ(BankValues(local), (std::vector<int>{1, 2, 3}));
  // 4 and 5 fill it, 6 goes over 1.
  EnqueueRows(local, BankRows(4, 3));
  EXPECT_EQ(BankValues(local), (std::vector<int>{6, 2, 3, 4, 5}));
  EnqueueRows(local, BankRows(7, 3));
  EXPECT_EQ(BankValues(local), (std::vector<int>{6, 7, 8, 9, 5}));
}

TEST(LocalBank, KeepsTheLastOfMoreKeysThanFit) {
  auto local = NewLocalBank(3, 2);
  EnqueueRows(local, BankRows(1, 1));
  EnqueueRows(local, BankRows(2, 7));  // 2, ..., 8
  auto values = BankValues(local);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<int>{6, 7, 8}));
  EXPECT_EQ(local.at("bank_count").item<int64_t>(), 8);
  // The oldest of them goes first.
  EnqueueRows(local, BankRows(9, 1));
  values = BankValues(local);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<int>{7, 8, 9}));
}

TEST(LocalBank, HoldsTheLastKeysWhateverTheSizes) {
  for (const int64_t size : {1, 2, 7, 16}) {
    for (const int64_t batch : {1, 2, 3, 7, 20}) {
      auto local = NewLocalBank(size, 2);
      std::deque<int> queue;
      for (int64_t step = 0; step < 25; ++step) {
        const int64_t first = 1 + step * batch;
        EnqueueRows(local, BankRows(first, batch));
        for (int64_t i = 0; i < batch; ++i) {
          queue.push_back(static_cast<int>(first + i));
          if (static_cast<int64_t>(queue.size()) > size) queue.pop_front();
        }
        auto values = BankValues(local);
        std::sort(values.begin(), values.end());
        ASSERT_EQ(values, std::vector<int>(queue.begin(), queue.end())) << size << " " << batch;
        ASSERT_EQ(local.at("bank_count").item<int64_t>(), (step + 1) * batch);
      }
    }
  }
}

TEST(LocalBank, KeysShareItsMemoryAndWhatIsPutInIsCopied) {
  auto local = NewLocalBank(4, 2);
  auto rows = BankRows(1, 2);
  EnqueueRows(local, rows);
  EXPECT_EQ(BankKeys(local).data_ptr(), local.at("bank").data_ptr());
  rows.fill_(9);
  EXPECT_EQ(BankValues(local), (std::vector<int>{1, 2}));
}

TEST(LocalBank, TakesKeysThatRequireGradientsWithoutKeepingThem) {
  auto local = NewLocalBank(4, 2);
  EnqueueRows(local, BankRows(1, 2).requires_grad_());
  EXPECT_FALSE(BankKeys(local).requires_grad());
}

TEST(LocalBank, NothingPutInChangesNothing) {
  auto local = NewLocalBank(4, 2);
  EnqueueRows(local, BankRows(1, 3));
  EnqueueRows(local, torch::zeros({0, 2}));
  EXPECT_EQ(BankValues(local), (std::vector<int>{1, 2, 3}));
}

TEST(LocalBank, GoesOnAfterACopy) {
  auto local = NewLocalBank(3, 2);
  EnqueueRows(local, BankRows(1, 4));
  auto copy = Clone(local);
  EnqueueRows(local, BankRows(5, 2));
  EnqueueRows(copy, BankRows(5, 2));
  EXPECT_EQ(DigestOf(local), DigestOf(copy));
}

}  // namespace
}  // namespace kindred
