#include "run/coordination.h"

#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "privacy/mechanism_kinds.h"
#include "run/fit.h"
#include "run/monitor.h"
#include "run/page_parts.h"
#include "run/run_summary.h"
#include "run/setup.h"

namespace kindred {

namespace {

std::optional<Dataset> MonitorOf(const Experiment& experiment) {
  if (!experiment.coordinator.monitor) return std::nullopt;
  Dataset dataset = LoadDataset(experiment.data);
  if (dataset.test.labels.empty() || dataset.train.labels.empty()) {
    throw UsageError("server.monitor: {} has no labelled training and test images",
                     experiment.data.name);
  }
  LimitTestImages(dataset, experiment.eval);
  return dataset;
}

bool IsValidNow(const Enrolment& enrolment) {
  return StateOf(enrolment, std::time(nullptr)) == EnrolmentState::kValid;
}

}  // namespace

Coordination::Coordination(const Experiment& experiment, const Config& config,
                           const std::string& config_hash, const ServeOptions& serve,
                           const RunDir& dir, const std::atomic<bool>& stop)
    : experiment_(experiment),
      config_(config),
      config_hash_(config_hash),
      serve_(serve),
      dir_(dir),
      stop_(stop),
      images_(ImageKindOf(experiment.data)),
      method_(MakeFittingMethod(ContextOf(experiment, images_))),
      enrolments_(serve.pki),
      kit_(serve.plain_text ? std::nullopt : std::optional(ReadServerKit(serve.pki))),
      monitor_(MonitorOf(experiment)),
      store_(0, dir.scratch()) {
  CheckTravels(experiment.privacy);
  const auto enrolled = enrolments_.All();
  const auto valid = std::count_if(enrolled.begin(), enrolled.end(), IsValidNow);
  if (valid < experiment.coordinator.min_clients) {
    throw UsageError(
        "server.min_clients = {}, but {} clients are enrolled in {}; issue kits with `kindred pki "
        "issue`, or lower it",
        experiment.coordinator.min_clients, valid, Printable(serve.pki.string()));
  }
  if (kit_ && kit_->expires < std::time(nullptr)) {
    throw NetworkError(
        "{}: the coordinator's certificate has expired; `kindred pki renew-server`, where the "
        "authority is, makes a new one",
        Printable(serve.pki.string()));
  }
  // Found out before the run has a folder.
  if (serve.plain_text && !IsLoopback(serve.listen)) {
    throw NetworkError(
        "{}: plain text is for this machine alone (127.0.0.1, ::1); leave out --plain-text",
        Printable(serve.listen));
  }
  const AcceptLoop probe(serve.listen, {}, [](int fd) { ::close(fd); });
  CheckCoordinator(experiment, *method_, static_cast<int>(valid));
}

Coordination::~Coordination() = default;

// The run's name, drawn once and kept in its folder.
std::string Coordination::RunId() const {
  const auto path = dir_.path() / "run";
  if (FileExists(path)) {
    const Bytes bytes = ReadFile(path, 64);
    const std::string id(bytes.begin(), bytes.end());
    if (IsName(id)) return id;
    throw DataError("{}: not a run's name; the run cannot go on", Printable(path.string()));
  }
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", randombytes_random());
  WriteFileAtomically(path, std::string_view(id));
  return id;
}

void Coordination::Start() {
  const std::string run = RunId();
  record_ = std::make_unique<RunRecord>(dir_, RunIdentity{config_hash_, run, kFederationPartition},
                                        experiment_.train.rounds, InputOf(images_));
  record_->Start(method_->Shared(), store_);
  audit_ = std::make_unique<AuditLog>(dir_.audit());
  const auto audit = [this](const AuditEvent& event) { audit_->Add(event); };
  const Precision precision = experiment_.coordinator.half ? Precision::kHalf : Precision::kFloat;
  const auto enrolled = [this] {
    std::map<int, std::string> all;
    for (const auto& each : enrolments_.All()) {
      if (IsValidNow(each)) all[each.place] = each.name;
    }
    return all;
  };
  coordinator_ = std::make_unique<Coordinator>(
      experiment_.coordinator,
      RunOffer{.run = run,
               .rounds = experiment_.train.rounds,
               .settings = config_.ForClients(),
               .input = InputOf(images_).ToText(),
               .classes = images_.classes,
               .data = experiment_.data.name,
               .shape = {.manifest = ManifestOf(method_->Shared(), precision),
                         .precision = precision,
                         .width = experiment_.model.dim,
                         .most = method_->FeaturesToShare()}},
      MembersFrom(record_->Members()), enrolled, stop_, audit);
  server_ = std::make_unique<GrpcServer>(serve_.listen, kit_, experiment_.wire, *coordinator_,
                                         enrolments_, audit);
  WarnOfExpiry();
  spdlog::info("run {}: listening on {}{}", run, server_->address(),
               kit_ ? "" : ", in plain text: for this machine alone");
}

void Coordination::Run() {
  driver_ = std::make_unique<RoundDriver>(
      experiment_, *method_, dir_, *record_,
      Monitored{.dataset = monitor_ ? &*monitor_ : nullptr, .input = InputOf(images_)});
  driver_->Begin(stop_);
  RoundLoopOptions rounds = RoundsOf(experiment_, *method_);
  rounds.over_selection = experiment_.coordinator.over_selection;
  rounds.first = record_->NextRound();
  rounds.images_of = [&](int client) { return coordinator_->ImagesOf(client); };
  rounds.claims_of = [&](const std::vector<int>& clients) { return ClaimsOf(clients); };
  RunRounds(rounds, *coordinator_, record_->Server(),
            [&](const RoundReport& report) { OnRound(report); });
  coordinator_->Finish(record_->Global());
}

// Once: in a long run the day may come while it runs.
void Coordination::WarnOfExpiry() {
  constexpr int64_t kDay = 24 * 60 * 60;
  const int64_t left = kit_ ? kit_->expires - std::time(nullptr) : kRenewAhead;
  if (warned_ || left >= kRenewAhead) return;
  warned_ = true;
  spdlog::warn(
      "the coordinator's certificate expires in {} days; then nobody can connect: run `kindred pki "
      "renew-server` where the authority is, and restart with --resume",
      std::max<int64_t>(0, left) / kDay);
}

// Clients whose number of images no certificate vouches for. What is certified must be the number
// that the client joined with: it may have been certified since, for another one.
std::set<int> Coordination::ClaimsOf(const std::vector<int>& clients) {
  const auto enrolled = enrolments_.All();
  std::set<int> claims;
  for (const int client : clients) {
    const auto place = static_cast<size_t>(client);
    const bool certified =
        place < enrolled.size() && enrolled[place].images == coordinator_->ImagesOf(client);
    if (!certified) claims.insert(client);
  }
  return claims;
}

// Told once per client.
void Coordination::TellCut(const RoundReport& report, const Members& members) {
  for (const auto& [client, weight] : report.cut) {
    if (!told_cut_.insert(client).second) continue;
    const Member& member = members.at(client);
    const std::string advice =
        ClaimsOf({client}).empty()
            ? "server.max_share"
            : fmt::format(
                  "server.max_claimed_share; certify its number with `kindred pki issue "
                  "{} --renew --images {}` if it is true, or raise the limit",
                  member.name, member.images);
    const auto detail = fmt::format("the {} images of {} count as {}: {}", member.images,
                                    member.name, weight, advice);
    spdlog::warn("round {}: {}", report.round + 1, detail);
    audit_->Add(
        {.event = "alarm", .client = member.name, .round = report.round + 1, .detail = detail});
  }
}

void Coordination::OnRound(const RoundReport& report) {
  WarnOfExpiry();
  driver_->EndRound(report);
  const Members members = coordinator_->CurrentMembers();
  TellCut(report, members);
  WritePagePart(dir_, "clients", [&] { return ClientsPart(members); });
  record_->SetMembers(ToText(members));
  Save(report.round + 1);
}

// The log says why a checkpoint failed; whoever watches the audit log learns that it did.
void Coordination::Save(int round) {
  const auto alarm = [&](const std::string& detail) {
    audit_->Add({.event = "alarm", .round = round, .detail = detail});
  };
  try {
    if (record_->Save(round, store_)) return;
  } catch (const Error& error) {
    alarm(error.what());
    throw;
  }
  alarm(
      "no checkpoint of this round; training goes on, but a restart now would lose it: make "
      "room on the disk");
}

Json Coordination::Summary() const {
  const Members members = coordinator_->CurrentMembers();
  Json summary = ToJson(RunSummary{.kind = RunKind::kCoordinator,
                                   .experiment = experiment_,
                                   .method = *method_,
                                   .model = record_->Global(),
                                   .clients = members.size(),
                                   .sums = record_->Sums(),
                                   .config_hash = config_hash_});
  summary["run"] = record_->Identity().data;
  if (experiment_.coordinator.half) {  // what clients end with
    const Manifest manifest = ManifestOf(record_->Global(), Precision::kHalf);
    Bytes sent = Pack(record_->Global(), manifest);
    summary["sent_digest"] = DigestOf(Unpack(sent, manifest));
  }
  Json list = Json::array();
  for (const auto& [place, member] : members) {
    list.push_back({{"place", place},
                    {"name", member.name},
                    {"images", member.images},
                    {"rounds", member.rounds},
                    {"strikes", member.strikes}});
  }
  summary["members"] = list;
  summary["refused"] = audit_->Refusals();
  return summary;
}

}  // namespace kindred
