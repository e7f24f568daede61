#include "run/summary.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

Json SummaryOfTest() {
  return {
      {"method", "ccl"},  {"dataset", "shapes"},   {"scheme", "iid"},         {"clients", 2},
      {"rounds", 3},      {"seconds", 7.5},        {"images_per_second", 40}, {"bytes_down", 1000},
      {"bytes_up", 2000}, {"model_digest", "abc"}, {"knn_first", 0.25},       {"knn_last", 0.5}};
}

TEST(Summary, SaysWhatAPersonWantsToKnow) {
  auto summary = SummaryOfTest();
  summary["diagnostics"] = {{"feature_cosine", 0.42},   {"feature_rank", 5.31},
                            {"shared_cosine", 0.64},    {"shared_rank", 2.5},
                            {"false_negatives", 0.101}, {"false_negatives_predicted", 0.1},
                            {"neighbors_remote", 0.2},  {"neighbors_same_class", 0.5}};
  ASSERT_TRUE(IsSummary(summary));
  const std::string text = SummaryText(summary, RunDir("runs/x"));
  for (const char* part :
       {"25.00 % at the random start, 50.00 % trained", "mean cosine 0.42, effective rank 5.3",
        "shared ones 0.64, 2.5", "10.10 % false, 10.00 % predicted", "20.0 % remote, 50.0 % of",
        "runs/x/"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Summary, LeavesOutWhatARunDoesNotHave) {
  auto summary = SummaryOfTest();
  summary.erase("knn_first");
  const std::string text = SummaryText(summary, RunDir("runs/x"));
  for (const char* part : {"kNN", "features", "negatives", "neighbours"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  }
}

TEST(Summary, AFileThatIsNoneIsSeen) {
  EXPECT_FALSE(IsSummary(Json::array()));
  const auto whole = SummaryOfTest();
  for (const auto& [key, value] : whole.items()) {
    if (key.starts_with("knn")) continue;
    auto summary = SummaryOfTest();
    summary.erase(key);
    EXPECT_FALSE(IsSummary(summary)) << key;
    summary[key] = Json::array();
    EXPECT_FALSE(IsSummary(summary)) << key;
  }
}

}  // namespace
}  // namespace kindred
