// The doctor's look at the network: keys, certificates, the port, the way to the coordinator. Needs
// no LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "identity/kit.h"
#include "run/experiment.h"

namespace kindred {

struct CoordinatorPlace {
  std::string listen;              // HOST:PORT
  std::filesystem::path pki, out;  // as `kindred serve` takes them
};

struct ClientPlace {
  std::filesystem::path kit, out;  // as `kindred join` takes them
};

// Keys that are there; true when only their owner can read each of them.
bool InspectSecrets(const std::vector<std::filesystem::path>& paths, Findings& findings);

// Port, keys and certificate of a coordinator. Returns how many clients have a valid certificate.
uint64_t InspectCoordinatorNetwork(const Experiment& experiment, const CoordinatorPlace& place,
                                   Findings& findings);

// A client's kit, and how far it leads to the coordinator.
struct ClientNetwork {
  std::optional<Kit> kit;  // nothing: it cannot be used
  bool reached =
      false;          // a coordinator of this federation answered; it was not asked who is enrolled
  std::string renew;  // how to get a new kit
};
ClientNetwork InspectClientNetwork(const Experiment& experiment, const ClientPlace& place,
                                   Findings& findings);

}  // namespace kindred
