// What is to be said under a table of results: how far its numbers go, what is missing, what
// differs.
#pragma once

#include <string>
#include <vector>

#include "report/result_table.h"

namespace kindred {

// Where the order of two methods is another than in the paper: a line each column.
std::vector<std::string> OrderNotes(const ResultTable& table);

// Rows that compete and have no number in a column where others have one: a line each column.
std::vector<std::string> MissingNotes(const ResultTable& table);

// How far the rows are from the yardstick, seed by seed, the mean with its 95 % interval by
// Student's t: one line per column with two seeds or more. What a seed does to both rows alike
// drops out.
std::vector<std::string> PairedNotes(const ResultTable& table);

// What training took each row, in seconds of one core, mean over its numbers: one line per column.
std::vector<std::string> CostNotes(const ResultTable& table);

// How far a number is to be trusted by its count of test images; empty: that is not known.
std::string ErrorNote(const ResultTable& table);

}  // namespace kindred
