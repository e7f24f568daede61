// Event files that TensorBoard shows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace kindred {

// One point in time: numbers by name, at a step (here: a round).
struct ScalarEvent {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;
};

enum class EventsStart { kFile, kGoOn };

// The bytes of an event file: the version at its start, then one record per event. A record is its
// length, a masked CRC-32C of that, an Event message, a masked CRC-32C of it.
Bytes SerializeEvents(const std::vector<ScalarEvent>& events,
                      EventsStart start = EventsStart::kFile);

}  // namespace kindred
