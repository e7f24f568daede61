#include "federation/call_rate.h"

#include <gtest/gtest.h>

#include "transport/refusal.h"

namespace kindred {
namespace {

class Calls {
 public:
  // How many of `count` calls at this time are let in.
  int At(double seconds, int client, int count) {
    int in = 0;
    for (int i = 0; i < count; ++i) {
      try {
        rate_.Count(client, CallRate::Clock::time_point() +
                                std::chrono::duration_cast<CallRate::Clock::duration>(
                                    std::chrono::duration<double>(100 + seconds)));
        ++in;
      } catch (const Refused& why) {
        EXPECT_EQ(why.reason, Refusal::kBusy);
      }
    }
    return in;
  }

 private:
  CallRate rate_{10, 30};
};

TEST(CallRate, LetsABurstInAndThenTheRate) {
  Calls calls;
  EXPECT_EQ(calls.At(0, 1, 100), 30);
  EXPECT_EQ(calls.At(1, 1, 100), 10);
  EXPECT_EQ(calls.At(1.5, 1, 100), 5);
  EXPECT_EQ(calls.At(1000, 1, 100), 30) << "no more than a burst is saved up";
}

TEST(CallRate, ClientsDoNotTakeEachOthersCalls) {
  Calls calls;
  EXPECT_EQ(calls.At(0, 1, 100), 30);
  EXPECT_EQ(calls.At(0, 2, 7), 7);
}

}  // namespace
}  // namespace kindred
