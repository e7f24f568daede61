// One digest on every x86-64 CPU with AVX2, whatever the environment says.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/pinned_kernels.h"
#include "method/method_kinds.h"
#include "tests/folders.h"
#include "tests/program.h"

namespace kindred {
namespace {

const std::string kConfigs = KINDRED_SOURCE_DIR "/configs/";

nlohmann::json SummaryIn(const TemporaryFolder& folder) {
  const Bytes bytes = ReadFile(folder.path() / "run" / "summary.json", 1 << 20);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

// Trains and returns the summary; the program may be started by an emulator.
nlohmann::json Trained(const std::string& arguments, const std::string& environment = "") {
  const TemporaryFolder folder = TestFolder();
  const Ran ran = Kindred(folder, "train --out run " + arguments, environment);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return ran.code == 0 ? SummaryIn(folder) : nlohmann::json::object();
}

std::string CpuName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

// Recorded on one machine; any other must give the same. A change of what is computed changes them:
// then all of them are recorded anew.
const std::map<std::string, std::string> kRecorded = {
    {"tiny.toml", "4cc50f1ab26ba3f105c3cedb5f7d22bdd0bd0b63f68689f7c90f86d7c757195c"},
    {"tiny.toml moco", "5c27918739d4b27abd9463f683d5e1da7ec551b2218406ee73e7ef6b92bc1625"},
    {"tiny.toml simclr", "c64bbc8dac0ae0110546a1bfb75a0d4aebd0f7ce8c4fbf054409bb8ba6296e39"},
    {"tiny.toml rotation", "f098c4305c0f115c1ad6d0a0b92eef5efe36bef8709710db28d5508cb6b96f45"},
    {"tiny.toml byol", "87a9e9de24cbf407f4c7115919c8b8352d786d96a7f7467f2f21fff52eca1a75"},
    {"tiny.toml fedema", "c12110d30fe666208a21f6cee968f62a046ee2d000c1477553b6c2509b309ce4"},
    {"tiny.toml swav", "de679dc8608661ea45a83152d2849b9058746a1ece0f33529b8cfeb2572682a6"},
    {"tiny.toml deepcluster", "d8b55afb2d8cc9108a7f8203da5be1bda0e20584765c097c66d6fe5d63202edf"},
    {"tiny.toml fedca", "a63023ef2891280f398746948fe1195a335d3549587738225156c50a0436e89d"},
    {"tiny.toml simsiam", "82b6a4dfea181c690bed06366c4b031ae002d3d2e1c067fb4c77ad930fe1f31b"},
    {"tiny.toml supervised", "9c3d978172e16cc369e68f843d2177baa3e7d36b13491587e6aa929e0dd42e3b"},
    {"demo.toml", "02c67478cc7aa653f3f94bb6a007b50d7fb1d08002819da3b4796c57e3e60c5f"},
};

// What the libraries must have taken on a CPU with AVX2.
const nlohmann::json kPinned = {{"pinned", "avx2"},
                                {"aten", "AVX2"},
                                {"openblas", "Haswell"},
                                {"onednn", "AVX2"},
                                {"libxsmm", "hsw"}};

// Why digests cannot be compared here with those of others; empty: they can.
std::string CheckComparable() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "a sanitizer's build compiles kernels otherwise, and the emulator does not run it";
#else
  return HasAvx2() ? "" : "no AVX2 with FMA: this CPU has digests of its own";
#endif
}

void ExpectRecorded(const std::string& what, const std::string& arguments) {
  if (const auto why = CheckComparable(); !why.empty()) GTEST_SKIP() << why;
  const auto summary = Trained(arguments);
  EXPECT_EQ(summary.value("libraries", "{}"_json), kPinned);
  ASSERT_TRUE(kRecorded.contains(what)) << "record the digest of a new method above: " << summary;
  EXPECT_EQ(summary.value("model_digest", ""), kRecorded.at(what))
      << what << " on " << CpuName() << ", kernels " << summary.value("libraries", "{}"_json);
}

std::string Tiny(const std::string& method) {
  return fmt::format("--config {0}tiny.toml --config {0}methods/{1}.toml", kConfigs, method);
}

TEST(Digest, OfTinyIsTheRecordedOne) {
  ExpectRecorded("tiny.toml", "--config " + kConfigs + "tiny.toml");
}

TEST(Digest, OfEveryMethodIsTheRecordedOne) {
  for (const auto& kind : MethodKinds()) {
    if (std::string_view(kind.name) == "ccl") continue;  // tiny.toml's own
    ExpectRecorded(fmt::format("tiny.toml {}", kind.name), Tiny(kind.name));
  }
}

TEST(Digest, OfTheDemoIsTheRecordedOne) {
  if (const auto why = CheckComparable(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder = TestFolder();
  const Ran got = Kindred(folder, "data get fashion-mnist");
  if (got.code != 0) GTEST_SKIP() << "no fashion-mnist: " << got.err;
  const Ran ran = Kindred(folder, "train --out run --config " + kConfigs + "demo.toml");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(SummaryIn(folder).value("model_digest", ""), kRecorded.at("demo.toml")) << CpuName();
}

TEST(Digest, IsTheSameWhateverTheEnvironmentSays) {
  for (const std::string engine : {"fast", "torch"}) {
    const std::string arguments = "--config " + kConfigs + "tiny.toml --set train.engine=" + engine;
    const auto plain = Trained(arguments);
    for (const char* environment :
         {"ATEN_CPU_CAPABILITY=default", "ATEN_CPU_CAPABILITY=avx512", "OPENBLAS_CORETYPE=Nehalem",
          "OPENBLAS_CORETYPE=Prescott", "OPENBLAS_CORETYPE=Zen", "ONEDNN_MAX_CPU_ISA=SSE41",
          "DNNL_MAX_CPU_ISA=AVX512_CORE", "LIBXSMM_TARGET=snb",
          "OPENBLAS_NUM_THREADS=2 OMP_NUM_THREADS=2",
          "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX2,-FMA"}) {
      const auto other = Trained(arguments, environment);
      EXPECT_EQ(other.value("model_digest", "?"), plain.value("model_digest", "")) << environment;
      EXPECT_EQ(other.value("libraries", "{}"_json), plain.value("libraries", "{}"_json))
          << environment;
    }
  }
}

TEST(Digest, IsTheSameOnEmulatedCpusWithAvx2) {
  if (const auto why = CheckComparable(); !why.empty()) GTEST_SKIP() << why;
  if (std::string(KINDRED_QEMU).ends_with("NOTFOUND")) GTEST_SKIP() << "no qemu-x86_64";
  for (const std::string engine : {"fast", "torch"}) {
    const std::string arguments = "--config " + kConfigs +
                                  "tiny.toml --set train.rounds=1 --set data.limit=100"
                                  " --set eval.limit=20 --workers 1 --set train.engine=" +
                                  engine;
    const auto here = Trained(arguments);
    for (const char* cpu : {"Haswell", "EPYC"}) {
      SCOPED_TRACE(engine + " " + cpu);
      const auto there = Trained(arguments, fmt::format("{} -cpu {}", KINDRED_QEMU, cpu));
      EXPECT_EQ(there.value("model_digest", "?"), here.value("model_digest", ""));
      EXPECT_EQ(there.value("libraries", "{}"_json), here.value("libraries", "{}"_json));
    }
  }
}

}  // namespace
}  // namespace kindred
