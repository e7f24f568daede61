#include "report/result_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/table_notes.h"
#include "tests/filled_table.h"

namespace kindred {
namespace {

TEST(ResultTable, MeansAndDeviationsAreOverSeeds) {
  const ResultTable table = Filled({{1, 2, 6}});
  EXPECT_DOUBLE_EQ(table.cells[0][0].Mean(), 3);
  EXPECT_DOUBLE_EQ(table.cells[0][0].Deviation(), std::sqrt(7.0));
  EXPECT_EQ(Filled({{5}}).cells[0][0].Deviation(), 0);
}

TEST(ResultTable, MarksTheBestTwoThatCompete) {
  const ResultTable table = Filled({{40, 40}, {42, 44}, {41, 43}, {90, 90}});
  const auto place = [&](size_t row) { return table.cells[row][0].place; };
  EXPECT_EQ(place(0), 0);
  EXPECT_EQ(place(1), 1);
  EXPECT_EQ(place(2), 2);
  EXPECT_EQ(place(3), 0);  // an upper bound
  // The paper's: FedRot 75.88, FedSimCLR 71.23, CCL 79.07.
  EXPECT_EQ(table.cells[2][0].paper_place, 1);
  EXPECT_EQ(table.cells[0][0].paper_place, 2);
}

TEST(ResultTable, EqualNumbersShareAPlace) {
  const ResultTable table = Filled({{40}, {43}, {43}});
  EXPECT_EQ(table.cells[1][0].place, 1);
  EXPECT_EQ(table.cells[2][0].place, 1);
  EXPECT_EQ(table.cells[0][0].place, 2);
}

TEST(ResultTable, WhatIsPrintedAlikeIsAlike) {
  const ResultTable table = Filled({{40.001}, {40.004}, {40.0}});
  for (size_t row = 0; row < 3; ++row) EXPECT_EQ(table.cells[row][0].place, 1) << row;
}

// 40.125 and 40.375 are exact in binary: halves, which one rule rounds up and another to even.
TEST(ResultTable, PlacesAreThoseOfTheNumbersAsPrinted) {
  for (const double half : {40.125, 40.375}) {
    const std::string printed = fmt::format("{:.2f}", half);
    const ResultTable table = Filled({{half}, {std::stod(printed)}, {39}});
    EXPECT_EQ(table.cells[0][0].place, 1) << half;
    EXPECT_EQ(table.cells[1][0].place, 1) << half;
    const Json cell = ToJson(table)["cells"][0][0];
    EXPECT_EQ(cell["text"], printed);
    EXPECT_EQ(cell["scores"][0]["text"], printed);
    EXPECT_NE(ToMarkdown(table).find("**" + printed + "**"), std::string::npos);
  }
}

TEST(ResultTable, OneNumberIsNotTheBest) { EXPECT_EQ(Filled({{}, {43}}).cells[1][0].place, 0); }

TEST(ResultTable, OtherSeedsDoNotCompete) {
  const ResultTable table = Filled({{45}, {40, 43}, {41, 43}, {90}});
  EXPECT_EQ(table.cells[0][0].place, 0);  // one seed, and a lucky one
  EXPECT_EQ(table.cells[1][0].place, 2);
  EXPECT_EQ(table.cells[2][0].place, 1);
  EXPECT_EQ(ToJson(table)["cells"][0][0]["seeds_note"], "1 seed");
  EXPECT_FALSE(ToJson(table)["cells"][1][0].contains("seeds_note"));
  // The first row of a new seed takes no mark from those that wait for theirs.
  const ResultTable begun = Filled({{40, 45}, {43}, {41}});
  EXPECT_EQ(begun.cells[0][0].place, 0);
  EXPECT_EQ(begun.cells[1][0].place, 1);
  ResultTable shifted = Filled({{40}, {43}, {41}});
  shifted.cells[0][0].scores[0].seed = 1;
  MarkPlaces(shifted);
  EXPECT_EQ(shifted.cells[0][0].place, 0);
  EXPECT_EQ(ToJson(shifted)["cells"][0][0]["seeds_note"], "other seeds");
  // FedRot would stand before CCL, as it does not in the paper; of the others FedSimCLR is behind,
  // as in the paper.
  EXPECT_TRUE(OrderNotes(table).empty());
}

// Seeds 0 and 1 move every row by 10; FedSimCLR is 1 and 2 above CCL, FedRot 3 below, once.
TEST(ResultTable, IsMarkdown) {
  const std::string text = ToMarkdown(Filled({{40}, {42, 44}, {41, 42}, {90}}));
  EXPECT_NE(text.find("| FedRot | 40.00, 1 seed (<u>75.88</u>) |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| FedSimCLR | **43.00** ± 1.41 (71.23) |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| CCL | <u>41.50</u> ± 0.71 (**79.07**) |\n"), std::string::npos) << text;
}

TEST(ResultTable, SaysWhyACellFailed) {
  ResultTable table = Filled({{40}, {43}});
  table.cells[2][0].failed = "too few images";
  const std::string text = ToMarkdown(table);
  EXPECT_NE(text.find("- Failed: CCL on CIFAR-10, non-IID 1, linear: too few images\n"),
            std::string::npos)
      << text;
}

TEST(ResultTable, IsCsvWithALineACell) {
  const std::string text = ToCsv({Filled({{40, 40}, {43, 43}, {41, 42}})});
  EXPECT_NE(
      text.find("linear,lab,cifar10,noniid1,linear,1,ccl,method,41.5000,0.7071,2,2,79.07,1\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(",supervised,reference,,,0,0,60.60,0\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace kindred
