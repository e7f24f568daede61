#include "report/table_notes.h"

#include <gtest/gtest.h>

#include "tests/filled_table.h"

namespace kindred {
namespace {

TEST(TableNotes, SaysHowFarItsNumbersAreToBeTrusted) {
  ResultTable table = Filled({{50}, {90}});
  EXPECT_EQ(ErrorNote(table), "");
  EXPECT_EQ(ToMarkdown(table).find("standard error"), std::string::npos);
  for (auto& row : table.cells) {
    for (auto& score : row[0].scores) score.provenance = {{"test_images", 2500}};
  }
  // sqrt(.5 * .5 / 2500) = .01; of 90 % it is .006.
  EXPECT_EQ(ErrorNote(table),
            "One standard error of a number is up to 1.0 points, by its 2500 test images alone: "
            "smaller gaps say little, marked or not");
  EXPECT_NE(ToMarkdown(table).find("- " + ErrorNote(table) + ".\n"), std::string::npos);
}

TEST(TableNotes, SaysWhereTheOrderIsAnother) {
  EXPECT_TRUE(OrderNotes(Filled({{2}, {1}, {3}})).empty());
  const auto notes = OrderNotes(Filled({{1}, {3}, {2}}));
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0],
            "CIFAR-10, non-IID 1, linear: FedSimCLR > CCL > FedRot here; in the paper CCL > FedRot "
            "> FedSimCLR");
}

TEST(TableNotes, TiesContradictNothing) {
  EXPECT_TRUE(OrderNotes(Filled({{3}, {3}, {3}})).empty());
  EXPECT_FALSE(OrderNotes(Filled({{3}, {3}, {2}})).empty());  // CCL is below both
}

TEST(TableNotes, DifferencesAreTakenWithinASeed) {
  // Differences of 1 and 2: a standard error of .5, and t = 12.706 with one degree of freedom.
  const auto notes = PairedNotes(Filled({{37}, {41, 52}, {40, 50}}));
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0],
            "CIFAR-10, non-IID 1, linear, to CCL: FedSimCLR +1.50 (-4.85 to +7.85, 2 seeds)");
  EXPECT_TRUE(PairedNotes(Filled({{37}, {41}, {40}})).empty());
}

TEST(TableNotes, SaysWhatTrainingCost) {
  ResultTable table = Filled({{40}, {41, 42}, {42}});
  EXPECT_TRUE(CostNotes(table).empty());
  table.cells[1][0].scores[0].provenance = {{"training", {{"cpu_seconds", 300}}}};
  table.cells[1][0].scores[1].provenance = {{"training", {{"cpu_seconds", 340.2}}}};
  table.cells[2][0].scores[0].provenance = {{"training", {{"cpu_seconds", 170}}}};
  const auto notes = CostNotes(table);
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0], "CIFAR-10, non-IID 1, linear: FedSimCLR 320; CCL 170");
}

TEST(TableNotes, SaysWhoseNumbersAreMissing) {
  const auto notes = MissingNotes(Filled({{40}, {}, {}, {}}));  // an upper bound is not missed
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0], "CIFAR-10, non-IID 1, linear: FedSimCLR; CCL");
  EXPECT_TRUE(MissingNotes(Filled({{40}, {41}, {42}})).empty());
  EXPECT_TRUE(MissingNotes(Filled({})).empty());  // a column that was not begun
  ResultTable failed = Filled({{40}, {41}});
  failed.cells[2][0].failed = "too few images";
  EXPECT_TRUE(MissingNotes(failed).empty());
}

}  // namespace
}  // namespace kindred
