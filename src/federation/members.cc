#include "federation/members.h"

#include "base/error.h"
#include "base/json.h"

namespace kindred {

std::string ToText(const Members& members) {
  Json list = Json::array();
  for (const auto& [place, member] : members) {
    list.push_back({{"place", place},
                    {"name", member.name},
                    {"images", member.images},
                    {"strikes", member.strikes},
                    {"rounds", member.rounds},
                    {"missed", member.missed},
                    {"left", member.left}});
  }
  return list.dump();
}

Members MembersFrom(const std::string& text) try {
  Members members;
  if (text.empty()) return members;
  for (const auto& entry : Json::parse(text)) {
    members[entry.at("place").get<int>()] = {.name = entry.at("name"),
                                             .images = entry.at("images"),
                                             .strikes = entry.at("strikes"),
                                             .rounds = entry.at("rounds"),
                                             .missed = entry.at("missed"),
                                             .left = entry.at("left")};
  }
  return members;
} catch (const Json::exception&) {
  throw DataError("a list of members that cannot be read");
}

}  // namespace kindred
