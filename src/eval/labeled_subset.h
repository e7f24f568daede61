// A part of the labels, drawn class by class.
#pragma once

#include <span>
#include <vector>

#include "base/rng.h"

namespace kindred {

// Of each class a share `ratio` of its images, to the nearest number and perhaps none: their
// indices in rising order. labels: in 0, ..., classes - 1.
std::vector<int> StratifiedSample(std::span<const int> labels, int classes, double ratio, Rng& rng);

// The same; throws a usage error when a class that has images would be left without one.
std::vector<int> LabeledSubset(std::span<const int> labels, int classes, double ratio, Rng& rng);

// The chosen labels.
std::vector<int> LabelsOf(std::span<const int> labels, std::span<const int> indices);

}  // namespace kindred
