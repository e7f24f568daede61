// Each file of each target's corpus goes through its target: what crashed once is a test for good.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <set>
#include <vector>

#include "tests/fuzz/target.h"

namespace kindred {
// Made by CMakeLists.txt: every target's Fuzz under a name of its own, and the table kTargets.
#include "fuzz_targets.inc"

namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = KINDRED_SOURCE_DIR "/tests/fuzz/corpus";

class FuzzCorpus : public testing::TestWithParam<FuzzTarget> {
 protected:
  static void SetUpTestSuite() { spdlog::set_level(spdlog::level::off); }
  static void TearDownTestSuite() {
    spdlog::set_level(spdlog::level::info);
    fmt::print("replayed {} files of {} fuzz targets\n", files_, std::size(kTargets));
  }
  static inline int files_ = 0;
};

TEST_P(FuzzCorpus, PassesItsTarget) {
  const fs::path folder = kCorpus / GetParam().name;
  ASSERT_TRUE(fs::is_directory(folder)) << folder << ": the target has no corpus";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    EXPECT_NO_THROW(GetParam().fuzz(ReadFile(entry.path(), 1 << 20)));
    ++files;
  }
  EXPECT_GT(files, 0) << folder << ": the corpus is empty";
  files_ += files;
}

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzCorpora, BelongToATarget) {
  std::set<std::string> names;
  for (const auto& target : kTargets) names.insert(target.name);
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    EXPECT_TRUE(names.contains(entry.path().filename())) << entry.path();
  }
}

}  // namespace
}  // namespace kindred
