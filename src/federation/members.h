// Who takes part in a run over a network, as the coordinator remembers it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kindred {

struct Member {
  std::string name;
  int64_t images = 0;  // |D_c| as it was enrolled; an update with another number is refused
  int strikes = 0;     // updates that were refused for what they held
  int rounds = 0;      // that its updates count in
  int missed = 0;      // rounds in a row that ended without it
  bool left = false;   // it said so, and has not come back
  bool heard = true;   // it has called since it last missed a round; not saved
  int chances = 1;     // times that a call makes rounds wait for it again; not saved
};

// By place in the enrolment list.
using Members = std::map<int, Member>;

// For checkpoints, and back. Throws a data error when the text is not what ToText writes.
std::string ToText(const Members& members);
Members MembersFrom(const std::string& text);

}  // namespace kindred
