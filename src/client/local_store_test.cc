#include "client/local_store.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/parallel.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// 40 bytes that say whose they are.
NamedTensors StoreState(int client, float value = 0.5f) {
  return {{"bank", torch::full({8}, static_cast<float>(client) + value)},
          {"count", torch::full({1}, client, torch::kInt64)}};
}

NamedTensors MustNotBeFresh() {
  ADD_FAILURE() << "the client has a state";
  return {};
}

void ExpectStored(LocalStore& store, int client, const NamedTensors& state) {
  EXPECT_EQ(DigestOf(store.Get(client, MustNotBeFresh)), DigestOf(state)) << client;
}

TEST(LocalStore, AnUnknownClientStartsFresh) {
  const auto folder = TestFolder();
  LocalStore store(1000, folder.path());
  EXPECT_TRUE(store.Clients().empty());
  EXPECT_EQ(DigestOf(store.Get(3, [] { return StoreState(7); })), DigestOf(StoreState(7)));
  EXPECT_TRUE(store.Clients().empty()) << "asking stores nothing";
  store.Put(9, StoreState(9));
  store.Put(2, StoreState(2));
  EXPECT_EQ(store.Clients(), (std::vector<int>{2, 9}));
  ExpectStored(store, 9, StoreState(9));
}

TEST(LocalStore, GetIsACopy) {
  const auto folder = TestFolder();
  LocalStore store(1000, folder.path());
  store.Put(1, StoreState(1));
  store.Get(1, MustNotBeFresh).at("bank").fill_(-1);
  ExpectStored(store, 1, StoreState(1));
}

TEST(LocalStore, PutReplaces) {
  const auto folder = TestFolder();
  LocalStore store(1000, folder.path());
  store.Put(1, StoreState(1));
  store.Put(1, StoreState(1, 0.25f));
  ExpectStored(store, 1, StoreState(1, 0.25f));
  EXPECT_EQ(store.BytesInMemory(), 40u);
  store.Put(1, {});
  EXPECT_EQ(store.BytesInMemory(), 0u);
  EXPECT_TRUE(store.Get(1, MustNotBeFresh).empty());
  EXPECT_EQ(store.Clients(), (std::vector<int>{1}));
}

TEST(LocalStore, SpillsAboveTheLimitAndReadsBackEqual) {
  const auto folder = TestFolder();
  const auto scratch = folder.path() / "scratch";
  {
    LocalStore store(100, scratch);  // two of 40 bytes
    store.Put(0, StoreState(0));
    store.Put(1, StoreState(1));
    EXPECT_TRUE(FilesBelow(scratch).empty());
    for (int client = 2; client < 10; ++client) {
      store.Put(client, StoreState(client));
      EXPECT_LE(store.BytesInMemory(), 100u);
    }
    EXPECT_EQ(store.BytesInMemory(), 80u);
    EXPECT_EQ(FilesBelow(scratch).size(), 8u);
    EXPECT_EQ(store.Clients().size(), 10u);
    for (int client = 0; client < 10; ++client) ExpectStored(store, client, StoreState(client));
  }
  EXPECT_TRUE(FilesBelow(scratch).empty()) << "scratch goes with the store";
}

TEST(LocalStore, ExactlyTheLimitStaysInMemory) {
  const auto folder = TestFolder();
  LocalStore store(80, folder.path());
  store.Put(0, StoreState(0));
  store.Put(1, StoreState(1));
  EXPECT_EQ(store.BytesInMemory(), 80u);
  EXPECT_TRUE(FilesBelow(folder.path()).empty());
}

TEST(LocalStore, LimitZeroKeepsEverythingInFiles) {
  const auto folder = TestFolder();
  LocalStore store(0, folder.path());
  for (int round = 0; round < 3; ++round) {
    for (int client = 0; client < 3; ++client) {
      store.Put(client, StoreState(client, static_cast<float>(round)));
      EXPECT_EQ(store.BytesInMemory(), 0u);
    }
  }
  EXPECT_EQ(FilesBelow(folder.path()).size(), 3u);
  for (int client = 0; client < 3; ++client) ExpectStored(store, client, StoreState(client, 2));
}

TEST(LocalStore, ANewStateReplacesASpilledOne) {
  const auto folder = TestFolder();
  {
    LocalStore store(40, folder.path());
    store.Put(0, StoreState(0));
    store.Put(1, StoreState(1));  // 0 goes to a file
    store.Put(0, StoreState(0, 0.75f));
    ExpectStored(store, 0, StoreState(0, 0.75f));
    ExpectStored(store, 1, StoreState(1));
    EXPECT_EQ(store.BytesInMemory(), 40u);
  }
  EXPECT_TRUE(FilesBelow(folder.path()).empty()) << "also of a client that came back to memory";
}

// Getting is using: what was just taken is not the first to go.
TEST(LocalStore, TheLeastRecentlyUsedGoesToAFile) {
  const auto folder = TestFolder();
  LocalStore store(80, folder.path());
  store.Put(0, StoreState(0));
  store.Put(1, StoreState(1));
  store.Get(0, MustNotBeFresh);
  store.Put(2, StoreState(2));
  EXPECT_EQ(FilesBelow(folder.path()), (std::set<std::string>{"client-1.safetensors"}));
}

TEST(LocalStore, ADamagedFileIsADataError) {
  const auto folder = TestFolder();
  LocalStore store(0, folder.path());
  store.Put(4, StoreState(4));
  WriteFileAtomically(folder.path() / "client-4.safetensors", "nonsense");
  ExpectError(ExitCode::kData, "client-4.safetensors", [&] { store.Get(4, MustNotBeFresh); });
  std::filesystem::remove(folder.path() / "client-4.safetensors");
  ExpectError(ExitCode::kData, "client-4.safetensors", [&] { store.Get(4, MustNotBeFresh); });
}

TEST(LocalStore, WhatCannotGoToDiskStaysInMemory) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / "file", "in the way");
  LocalStore store(0, folder.path() / "file" / "scratch");
  EXPECT_NO_THROW(store.Put(1, StoreState(1)));
  EXPECT_GT(store.BytesInMemory(), 0u);
  EXPECT_EQ(DigestOf(store.Get(1, [] { return NamedTensors{}; })), DigestOf(StoreState(1)));
}

TEST(LocalStore, ManyThreadsKeepTheirClients) {
  const auto folder = TestFolder();
  LocalStore store(200, folder.path());
  constexpr int kClients = 16;
  for (int round = 0; round < 3; ++round) {
    ParallelFor(4, kClients, [&](int, int client) {
      const auto state = store.Get(client, [&] { return StoreState(client, 0); });
      const float was = state.at("bank")[0].item<float>();
      EXPECT_EQ(was, static_cast<float>(client + round));
      store.Put(client, StoreState(client, static_cast<float>(round + 1)));
    });
  }
  for (int client = 0; client < kClients; ++client) {
    ExpectStored(store, client, StoreState(client, 3));
  }
  EXPECT_LE(store.BytesInMemory(), 200u);
}

}  // namespace
}  // namespace kindred
