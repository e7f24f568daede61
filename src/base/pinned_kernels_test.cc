#include "base/pinned_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace kindred {
namespace {

TEST(PinnedKernels, WhatTheEnvironmentSaidOfTheLibrariesIsGone) {
  ::setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  ::setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE", 1);  // oneDNN's older name
  ::setenv("OPENBLAS_BLOCK_FACTOR", "2", 1);
  PinKernels();
  EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), HasAvx2() ? "Haswell" : "Prescott");
  EXPECT_EQ(std::getenv("DNNL_MAX_CPU_ISA"), nullptr);
  EXPECT_EQ(std::getenv("OPENBLAS_BLOCK_FACTOR"), nullptr);
  EXPECT_EQ(PinnedTo(), HasAvx2() ? "avx2" : "sse");
}

TEST(PinnedKernels, EachLibraryIsPinnedForBothKindsOfCpu) {
  const auto with = PinnedVariables(true), without = PinnedVariables(false);
  ASSERT_EQ(with.size(), without.size());
  for (size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i].first, without[i].first);
    EXPECT_TRUE(TunesALibrary(with[i].first)) << with[i].first;
  }
}

TEST(PinnedKernels, OtherVariablesStay) {
  for (const char* name :
       {"PATH", "OMP_NUM_THREADS", "KINDRED_TRAIN_SEED", "OMPI_COMM_WORLD_RANK"}) {
    EXPECT_FALSE(TunesALibrary(name)) << name;
  }
}

TEST(PinnedKernels, OtherTunablesOfGlibcStay) {
  EXPECT_EQ(WithoutCpuTunables("glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2,-FMA:glibc.rtld.nns=4"),
            "glibc.malloc.check=1:glibc.rtld.nns=4");
  EXPECT_EQ(WithoutCpuTunables("glibc.cpu.x86_ibt=on"), "");
  // What glibc does not take for its own stays, so that nobody restarts because of it.
  for (const std::string odd : {"xglibc.cpu.hwcaps=-FMA", " glibc.cpu.hwcaps=-FMA",
                                "a=1=glibc.cpu.x=1", "glibc.malloc.check=1::glibc.rtld.nns=4"}) {
    EXPECT_EQ(WithoutCpuTunables(odd), odd);
  }
  // What is left has nothing more to remove.
  for (const std::string each :
       {"glibc.cpu.a=1:x=1:", "x=1:glibc.cpu.a=1", ":glibc.cpu.a=1:", ":"}) {
    const std::string once = WithoutCpuTunables(each);
    EXPECT_EQ(WithoutCpuTunables(once), once) << each;
  }
  EXPECT_EQ(WithoutCpuTunables(""), "");
}

}  // namespace
}  // namespace kindred
