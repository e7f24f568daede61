// A picture of a partition.
#pragma once

#include <string>

#include "partition/partition.h"

namespace kindred {

// An SVG chart, clients by classes: the area of a disk is the number of images. One column without
// labels. Class and client names are escaped text.
std::string PartitionSvg(const Partition& partition, const Dataset& dataset,
                         const std::string& title);

}  // namespace kindred
