// One thing that a check of a machine found, and what to do about it. Each is made of facts alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/images.h"
#include "doctor/reachability.h"
#include "identity/pki.h"

namespace kindred {

enum class FindingState { kOk, kWarning, kProblem };

// "ok", "warning", "problem".
std::string ToString(FindingState state);

struct Finding {
  std::string check;
  FindingState state = FindingState::kOk;
  std::string found;
  std::string remedy = {};          // a command, where one does it; empty when all is well
  ExitCode code = ExitCode::kData;  // of a problem: kNetwork for the network and identities
};

using Findings = std::vector<Finding>;

// kDone without a problem, kNetwork when one is of the network or an identity, else kData.
ExitCode ExitCodeOf(const Findings& findings);

// Of an error: what it found and, behind a semicolon, what to do, unless `remedy` says better.
Finding ProblemOf(const std::string& check, const std::string& message, ExitCode code,
                  const std::string& remedy = "");
Finding ProblemOf(const std::string& check, const Error& error);

// A certificate that is sound but for its times. `begun`: its first day has come, by this clock.
struct CertificateTerm {
  std::string path;
  int64_t expires = 0;  // unix seconds
  bool begun = true;
};
Finding CertificateFinding(const CertificateTerm& term, int64_t now, const std::string& renew);

// A secret file by its mode; one of its owner alone is well.
Finding SecretFinding(const std::filesystem::path& path, unsigned mode);

// How far the way to the coordinator leads; nothing failed: all of it.
Finding RouteFinding(const std::string& address, const std::optional<Unreached>& failed,
                     const std::string& renew);

// A coordinator's refusal of a greeting, as GrpcClient tells it.
Finding RefusalFinding(const std::string& message, const std::string& renew);

// Whether those who may take part are enough.
Finding EnrolledFinding(const std::vector<Enrolment>& enrolled, int needed, int64_t now);

// Whether numbers of images, which are weights, are anybody's word but the clients'.
Finding WeightsFinding(const std::vector<Enrolment>& enrolled, int64_t now);

// The authority's key on a machine that serves.
Finding AuthorityFinding(const std::filesystem::path& folder);

// Room for what a run keeps in its folder, and in memory.
Finding UnwritableFinding(const std::filesystem::path& folder);
Finding DiskFinding(const std::string& folder, uint64_t free, uint64_t needed);
Finding MemoryFinding(uint64_t available, uint64_t needed, const std::string& remedy);

// Descriptors that this process may open, against connections; a client has one.
Finding DescriptorFinding(uint64_t most, int connections);

// Images of a client against what an encoding mixes.
Finding ImagesFinding(int count, const ImageShape& shape, int mix);

// MemAvailable of /proc/meminfo in bytes; nullopt when it does not say.
std::optional<uint64_t> AvailableMemory(const std::string& meminfo);

}  // namespace kindred
