// The list of clients: an accepted one has names and serial numbers of their form, each once, and
// what is written when a client is revoked reads back as that.
#include "identity/enrolments.h"

#include <set>

#include "base/name.h"
#include "tests/fuzz/target.h"

namespace kindred {
namespace {

bool SameClient(const Enrolment& a, const Enrolment& b) {
  return a.place == b.place && a.name == b.name && a.serial == b.serial && a.expires == b.expires &&
         a.images == b.images && a.former == b.former;
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  for (const char* part : {"coordinator", "authority"}) MakeFolder(FuzzFolder() / part);
  WriteFuzzFile("coordinator/enrolled.json", AsText(input));
  WriteFuzzFile("authority/ca.key", "");  // who has it may revoke
  const auto clients = Accepted([] { return ReadEnrolments(FuzzFolder()); });
  if (!clients) return;
  std::set<std::string> serials;
  for (const auto& each : *clients) {
    Require(IsName(each.name), "a bad name");
    Require(each.serial.size() == 32 && serials.insert(each.serial).second, "a bad serial number");
    for (const auto& serial : each.former) {
      Require(serial.size() == 32 && serials.insert(serial).second, "a bad former serial number");
    }
  }
  if (clients->empty()) return;
  const size_t chosen = input.size() % clients->size();
  Require(Revoke(FuzzFolder(), clients->at(chosen).name) != clients->at(chosen).revoked,
          "it was revoked already, or not");
  const auto again = ReadEnrolments(FuzzFolder());
  Require(again.size() == clients->size(), "another number of clients is read");
  for (size_t i = 0; i < again.size(); ++i) {
    Require(SameClient(again[i], clients->at(i)), "another client is read");
    Require(again[i].revoked == (clients->at(i).revoked || i == chosen), "another is revoked");
  }
  Enrolments running(FuzzFolder());
  Require(running.ByName(clients->at(chosen).name).state == EnrolmentState::kRevoked,
          "a revoked client may take part");
}

}  // namespace kindred
