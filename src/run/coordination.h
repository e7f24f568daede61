// A federation over a network, the coordinator's side: no images, but rounds, a record and a wire.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/json.h"
#include "federation/coordinator.h"
#include "federation/grpc_server.h"
#include "identity/enrolments.h"
#include "identity/kit.h"
#include "record/audit_log.h"
#include "run/experiment.h"
#include "run/round_driver.h"
#include "run/run_record.h"

namespace kindred {

// Where a coordinator is reached, and who may.
struct ServeOptions {
  std::string listen;         // HOST:PORT; port 0: any
  std::filesystem::path pki;  // of `kindred pki init`
  bool plain_text = false;    // no TLS, on loopback
};

class Coordination {
 public:
  // Touches no file of the run. What it is given must outlive it. Throws when the options do not
  // fit each other.
  Coordination(const Experiment& experiment, const Config& config, const std::string& config_hash,
               const ServeOptions& serve, const RunDir& dir, const std::atomic<bool>& stop);
  ~Coordination();

  // Goes on from the newest checkpoint or begins, and listens.
  void Start();

  // Runs what is left, then hands out the trained model. Throws Interrupted when stopped.
  void Run();

  // summary.json of the run as it stands.
  Json Summary() const;

 private:
  void WarnOfExpiry();
  void OnRound(const RoundReport& report);
  std::set<int> ClaimsOf(const std::vector<int>& clients);
  void TellCut(const RoundReport& report, const Members& members);
  void Save(int round);
  std::string RunId() const;

  const Experiment& experiment_;
  const Config& config_;
  std::string config_hash_;
  ServeOptions serve_;
  const RunDir& dir_;
  const std::atomic<bool>& stop_;
  ImageKind images_;
  std::unique_ptr<Method> method_;  // with the seed's initial weights
  Enrolments enrolments_;
  std::optional<ServerKit> kit_;
  bool warned_ = false;  // that its end is near
  std::optional<Dataset> monitor_;
  LocalStore store_;  // unused: clients keep their own state
  std::unique_ptr<RunRecord> record_;
  std::unique_ptr<RoundDriver> driver_;
  std::unique_ptr<AuditLog> audit_;
  std::set<int> told_cut_;  // clients of whose cut weight the operator was told
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<GrpcServer> server_;
};

}  // namespace kindred
