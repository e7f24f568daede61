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
  const auto notes = PairedNotes(Filled({{37}, {41, 52}, {40, 50}}));
  ASSERT_EQ(notes.size(), 1);
  EXPECT_EQ(notes[0], "CIFAR-10, non-IID 1, linear, to CCL: FedSimCLR +1.50 ± 0.71 (2 seeds)");
  EXPECT_TRUE(PairedNotes(Filled({{37}, {41}, {40}})).empty());
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
