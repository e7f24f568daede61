#include "doctor/doctor_network.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/address.h"
#include "base/error.h"
#include "base/file.h"
#include "doctor/reachability.h"
#include "federation/accept_loop.h"
#include "identity/certificate.h"

namespace kindred {
namespace {

Finding TermFinding(const std::filesystem::path& path, const std::string& pem,
                    const std::string& authority, CertificateUse use, const std::string& renew) {
  const int64_t now = std::time(nullptr);
  const int64_t expires = ReadCertificate(pem)->expires;
  // Sound whenever, not expired, and yet not good now: its time has not come.
  const bool begun = expires <= now || Verifies(pem, authority, use, now);
  return CertificateFinding({path.string(), expires, begun}, now, renew);
}

// Takes the port for a moment, as `kindred serve` would.
Finding InspectPort(const std::string& listen) {
  try {
    const AcceptLoop loop(listen, {}, [](int fd) { ::close(fd); });
    if (ParseAddress(listen).port == 0) {
      return {"port", FindingState::kWarning, "port 0: another one at each start",
              "--listen HOST:7433, the port that kits name"};
    }
    if (IsLoopback(listen)) {
      return {"port", FindingState::kWarning,
              fmt::format("{}: free, for clients on this machine alone", loop.address()),
              fmt::format("--listen 0.0.0.0:{}", ParseAddress(listen).port)};
    }
    return {"port", FindingState::kOk, fmt::format("{}: free", loop.address())};
  } catch (const Error& error) {
    Finding finding = ProblemOf("port", error);
    finding.code = ExitCode::kNetwork;
    if (finding.found.find("another program") != std::string::npos) {
      finding.remedy +=
          fmt::format("; ss -ltnp 'sport = :{}' shows which", ParseAddress(listen).port);
    }
    return finding;
  }
}

// A folder of `kindred pki init`, of which the coordinator's part is enough. Returns how many
// clients have a valid certificate.
uint64_t InspectPki(const std::filesystem::path& pki, int needed, Findings& findings) {
  try {
    const auto part = CoordinatorPart(pki);
    bool well = InspectSecrets({part / "server.key"}, findings);
    for (const auto& folder : {AuthorityPart(pki), pki}) {
      if (!FileExists(folder / "ca.key")) continue;
      well &= InspectSecrets({folder / "ca.key"}, findings);
      findings.push_back(AuthorityFinding(folder));
    }
    const auto enrolled = ReadEnrolments(pki);
    findings.push_back(EnrolledFinding(enrolled, needed, std::time(nullptr)));
    findings.push_back(WeightsFinding(enrolled, std::time(nullptr)));
    if (well) {
      const ServerKit kit = ReadServerKit(pki);
      findings.push_back(TermFinding(part / "server.crt", kit.certificate, kit.ca,
                                     CertificateUse::kCoordinator,
                                     "kindred pki renew-server --pki PKI, where the authority is, "
                                     "then restart kindred serve with --resume"));
    }
    return static_cast<uint64_t>(
        std::count_if(enrolled.begin(), enrolled.end(), [](const Enrolment& each) {
          return StateOf(each, std::time(nullptr)) == EnrolmentState::kValid;
        }));
  } catch (const Error& error) {
    findings.push_back(ProblemOf("certificate", error));
    findings.back().code = ExitCode::kNetwork;
    return 0;
  }
}

std::optional<Kit> InspectKit(const std::filesystem::path& folder, const std::string& renew,
                              Findings& findings) {
  const bool well = InspectSecrets({folder / "client.key"}, findings);
  if (!well) return std::nullopt;
  try {
    Kit kit = ReadKit(folder);
    findings.push_back(TermFinding(folder / "client.crt", kit.certificate, kit.ca,
                                   CertificateUse::kClient, renew));
    return kit;
  } catch (const Error& error) {
    findings.push_back(ProblemOf("certificate", error));
    findings.back().code = ExitCode::kNetwork;
    return std::nullopt;
  }
}

// Goes the way to the coordinator; true when it leads there.
bool InspectRoute(const std::string& address, const Kit& kit, const std::string& renew,
                  Findings& findings) {
  try {
    const auto failed = WhyNoHandshake(address, kit);
    findings.push_back(RouteFinding(address, failed, renew));
    return !failed;
  } catch (const Error& error) {
    findings.push_back(ProblemOf("route", error));
    findings.back().code = ExitCode::kNetwork;
    return false;
  }
}

}  // namespace

bool InspectSecrets(const std::vector<std::filesystem::path>& paths, Findings& findings) {
  bool well = true;
  for (const auto& path : paths) {
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) continue;
    findings.push_back(SecretFinding(path, status.st_mode));
    well &= findings.back().state == FindingState::kOk;
  }
  return well;
}

uint64_t InspectCoordinatorNetwork(const Experiment& experiment, const CoordinatorPlace& place,
                                   Findings& findings) {
  findings.push_back(InspectPort(place.listen));
  return InspectPki(place.pki, experiment.coordinator.min_clients, findings);
}

ClientNetwork InspectClientNetwork(const Experiment& experiment, const ClientPlace& place,
                                   Findings& findings) {
  const std::string& address = experiment.join.server;
  const std::string name = experiment.join.name.empty() ? "NAME" : experiment.join.name;
  ClientNetwork network = {
      .renew = fmt::format(
          "ask whoever runs the coordinator: kindred pki issue {} --pki PKI --server {} --out KIT "
          "--renew",
          name, address.empty() ? "HOST:PORT" : address)};
  network.kit = InspectKit(place.kit, network.renew, findings);
  if (network.kit && name != "NAME" && name != network.kit->name) {
    findings.push_back({"certificate", FindingState::kProblem,
                        fmt::format("client.name = {}, but the certificate is of {}",
                                    Printable(name), Printable(network.kit->name)),
                        "take client.toml and client.crt of one kit", ExitCode::kNetwork});
  }
  if (address.empty()) {
    findings.push_back({"route", FindingState::kProblem, "no address of the coordinator",
                        "--set client.server=HOST:PORT", ExitCode::kNetwork});
  } else if (network.kit) {
    network.reached = InspectRoute(address, *network.kit, network.renew, findings);
  } else if (const auto failed = CheckReachable(address)) {
    findings.push_back(RouteFinding(address, failed, network.renew));
  }
  return network;
}

}  // namespace kindred
