#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kindred {
namespace {

TEST(Parallel, WorkerCountIsItselfOrACoreEach) {
  EXPECT_EQ(WorkerCount(3), 3);
  EXPECT_EQ(WorkerCount(1), 1);
  EXPECT_GE(WorkerCount(0), 1);
}

TEST(Parallel, WorkerCountFollowsWhatTheProcessIsBoundTo) {
  int bound = 0;
  std::thread([&] {
    cpu_set_t allowed, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      CPU_SET(cpu, &one);
      break;
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    bound = WorkerCount(0);
  }).join();
  EXPECT_EQ(bound, 1);
}

TEST(Parallel, EachIndexIsDoneOnce) {
  for (const int workers : {1, 2, 7}) {
    for (const int count : {0, 1, 2, 6, 7, 8, 1000}) {
      std::vector<std::atomic<int>> times(static_cast<size_t>(count));
      std::atomic<bool> in_range = true;
      ParallelFor(workers, count, [&](int worker, int i) {
        if (worker < 0 || worker >= workers || i < 0 || i >= count) {
          in_range = false;
        } else {
          ++times[static_cast<size_t>(i)];
        }
      });
      EXPECT_TRUE(in_range) << workers << " " << count;
      for (int i = 0; i < count; ++i) {
        EXPECT_EQ(times[static_cast<size_t>(i)], 1) << workers << " " << count << " " << i;
      }
    }
  }
}

// Each call waits for the others: this ends only when four run at once, each with a number of its
// own.
TEST(Parallel, WorkersRunAtOnceAndHaveDifferentNumbers) {
  std::latch all(4);
  std::mutex mutex;
  std::set<int> numbers;
  ParallelFor(4, 4, [&](int worker, int) {
    {
      const std::lock_guard lock(mutex);
      numbers.insert(worker);
    }
    all.arrive_and_wait();
  });
  EXPECT_EQ(numbers, (std::set<int>{0, 1, 2, 3}));
}

// A worker's number is not used by two calls at once: what it indexes needs no lock.
TEST(Parallel, AWorkersNumberIsItsOwn) {
  std::vector<std::atomic<int>> busy(4);
  std::atomic<bool> shared = false;
  ParallelFor(4, 2000, [&](int worker, int) {
    auto& mine = busy[static_cast<size_t>(worker)];
    if (mine.fetch_add(1) != 0) shared = true;
    mine.fetch_sub(1);
  });
  EXPECT_FALSE(shared);
}

TEST(Parallel, OneWorkerGoesInOrder) {
  std::vector<int> order;
  ParallelFor(1, 5, [&](int, int i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Parallel, AnExceptionLeavesAndNothingMoreIsBegun) {
  std::vector<int> begun;
  try {
    ParallelFor(1, 100, [&](int, int i) {
      begun.push_back(i);
      if (i == 3) throw std::runtime_error("three");
    });
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "three");
  }
  EXPECT_EQ(begun, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Parallel, AnExceptionOfOneOfManyWaitsForTheOthers) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::atomic<int> inside = 0, done = 0;
    EXPECT_THROW(ParallelFor(4, 1000,
                             [&](int, int i) {
                               ++inside;
                               ++done;
                               --inside;
                               if (i % 10 == 5) throw std::out_of_range("5");
                             }),
                 std::out_of_range);
    EXPECT_EQ(inside, 0);
    EXPECT_LT(done, 1000);
  }
}

TEST(Parallel, WhateverIsThrownKeepsItsType) {
  struct Stop {};
  EXPECT_THROW(ParallelFor(3, 10, [](int, int) { throw Stop{}; }), Stop);
}

TEST(BackgroundThread, RunsBesideItsOwnerAndIsWaitedFor) {
  std::latch running(1);
  std::atomic<bool> returned = false;
  {
    const BackgroundThread thread("test", [&](std::stop_token stop) {
      running.count_down();
      while (!stop.stop_requested()) std::this_thread::yield();
      returned = true;
    });
    running.wait();  // it runs while this thread goes on
    EXPECT_FALSE(returned);
  }
  EXPECT_TRUE(returned);
}

TEST(BackgroundThread, MayEndBeforeItIsAskedTo) {
  std::latch done(1);
  const BackgroundThread thread("a name that is longer than Linux keeps",
                                [&](std::stop_token) { done.count_down(); });
  done.wait();
}

}  // namespace
}  // namespace kindred
