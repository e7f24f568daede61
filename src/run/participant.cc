#include "run/participant.h"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>

#include <thread>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "client/round.h"
#include "federation/grpc_client.h"
#include "model/encoder.h"
#include "privacy/mechanism_kinds.h"
#include "run/own_data.h"
#include "run/run_summary.h"
#include "run/setup.h"
#include "run/shared_settings.h"
#include "server/checkpoint.h"
#include "wire/kept_round.h"
#include "wire/packed_update.h"
#include "wire/wire.h"

namespace kindred {

namespace {

// The client's own secret for a run: drawn once, kept in the folder, never shown.
Secret DrawnSecret(const std::filesystem::path& folder, const std::string& run) {
  const auto path = folder / "secret";
  if (!FileExists(path)) {
    Secret fresh;
    randombytes_buf(fresh.data(), fresh.size());
    const mode_t before = ::umask(0077);
    WriteFileAtomically(path, std::span<const uint8_t>(fresh));
    ::umask(before);
    ::chmod(path.c_str(), 0600);
  }
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & 077) != 0) {
    throw NetworkError("{}: others may read it; chmod 600 it", Printable(path.string()));
  }
  const Bytes bytes = ReadFile(path, 64);
  Secret secret;
  if (bytes.size() != secret.size()) {
    throw DataError("{}: not a secret of 32 bytes; delete it to draw a new one",
                    Printable(path.string()));
  }
  // One key per run: rounds of two runs never share a stream.
  crypto_generichash(secret.data(), secret.size(), reinterpret_cast<const uint8_t*>(run.data()),
                     run.size(), bytes.data(), bytes.size());
  return secret;
}

std::string FreshId() {
  std::array<uint8_t, 16> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  std::string id;
  for (const uint8_t byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

// Throws unless a coordinator's model can be trained.
void CheckModel(const NamedTensors& model) {
  if (!AllFinite(model)) throw NetworkError("the coordinator sent a model that is not finite");
  for (const auto& [name, tensor] : model) {
    if (name.ends_with("running_var") && !(tensor > 0).all().item<bool>()) {
      throw NetworkError("the coordinator sent {} with variances that are not positive", name);
    }
  }
}

// One client in one run.
class Participant {
 public:
  Participant(Experiment& experiment, Config& config, const std::optional<Kit>& kit,
              const RunDir& dir, const std::atomic<bool>& stop)
      : experiment_(experiment),
        own_data_(experiment.data),
        config_(config),
        dir_(dir),
        stop_(stop),
        wire_({.server = experiment.join.server,
               .name = kit ? "" : experiment.join.name,
               .patience = experiment.join.patience,
               .most_download = static_cast<uint64_t>(experiment.join.max_download) << 20},
              kit, stop) {}

  Json Run() {
    Meet();
    while (true) {
      const auto plan = wire_.WaitForPlan(offer_.run());
      if (stop_) throw Interrupted{};
      if (!plan) {
        spdlog::info("the coordinator has another run, or forgot this client; joining again");
        Meet();
        continue;
      }
      if (plan->state() == v1::PlanReply::FINISHED) {
        if (auto summary = TakeModel(*plan)) {
          wire_.Leave(offer_.run(), true);
          return *summary;
        }
      }
      if (plan->state() != v1::PlanReply::TRAIN) continue;
      // What was answered is not done again, however often it is asked for.
      if (plan->nonce() == answered_) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        continue;
      }
      Train(*plan);
    }
  }

  void SayGoodbye() {
    if (!offer_.run().empty()) wire_.Leave(offer_.run(), false);
  }

 private:
  // Asks what is learned, makes ready for it, and joins.
  void Meet() {
    offer_ = wire_.Join(0);
    if (!IsName(offer_.run())) throw NetworkError("the coordinator's run has no proper name");
    ApplySettings({offer_.settings().begin(), offer_.settings().end()}, experiment_, config_);
    if (offer_.rounds() > static_cast<uint32_t>(experiment_.join.max_rounds)) {
      throw NetworkError("the coordinator asks for {} rounds, client.max_rounds allows {}",
                         offer_.rounds(), experiment_.join.max_rounds);
    }
    input_ = OfferedInput(offer_.input(), experiment_);
    constexpr uint32_t kMostPlace = 1 << 20;
    if (offer_.client() > kMostPlace)
      throw NetworkError("the coordinator's list cannot be so long");
    DataOptions& data = experiment_.data;
    data = own_data_;
    if (data.name == "folder" && data.size == 0) data.size = input_.shape.height;
    if (data.name == "folder") data.channels = input_.shape.channels;
    MakeLearner();
    TakeData();
    const v1::JoinReply joined = wire_.Join(data_.images.count);
    if (joined.SerializeAsString() != offer_.SerializeAsString()) {
      throw NetworkError("the coordinator says another thing when it is joined than when asked");
    }
    Digest settings;
    for (const auto& setting : offer_.settings()) settings.Add(std::string_view(setting));
    settings_ = settings.Add(std::string_view(offer_.input())).Hex();
    dir_.WriteConfig(TextsOf(config_));
    spdlog::info("client {} of run {}, {} images, {} rounds", data_.client, offer_.run(),
                 data_.images.count, offer_.rounds());
  }

  // The method that is offered, with a model of the coordinator's shape.
  void MakeLearner() {
    const int classes = static_cast<int>(std::min<uint32_t>(offer_.classes(), 1 << 20));
    MethodContext context = ContextOf(experiment_, ImageKindOf(input_, classes));
    context.model.threads =
        std::make_shared<std::atomic<int>>(WorkerCount(experiment_.train.workers));
    foundation_ = MakeFoundation(context, experiment_.data.name, dir_.path());
    context.foundation = foundation_;
    method_ = MakeFittingMethod(context);
    if (method_->UsesLabels() && !experiment_.join.labels) {
      throw NetworkError(
          "the coordinator's method learns from labels; allow it with --set "
          "client.labels=true");
    }
    shape_ = {.manifest = ManifestOf(method_->Shared(),
                                     offer_.half() ? Precision::kHalf : Precision::kFloat),
              .precision = offer_.half() ? Precision::kHalf : Precision::kFloat,
              .width = experiment_.model.dim,
              .most = method_->FeaturesToShare()};
    if (HashOf(shape_.manifest) != offer_.manifest_hash()) {
      throw NetworkError(
          "the coordinator's model has other tensors than this program makes of its settings; "
          "install the same version of kindred on both sides");
    }
  }

  // This client's images, its place in the list, and what it keeps of the run.
  void TakeData() {
    const std::string needed = fmt::format("{} {} {}", offer_.run(), input_.ToText(),
                                           method_->UsesLabels() ? "labels" : "");
    if (loaded_ != needed) data_ = OwnData(experiment_, input_, method_->UsesLabels());
    loaded_ = needed;
    if (data_.images.count < experiment_.join.min_images) {
      throw DataError(
          "this client has {} images, client.min_images = {}: an update of so few shows "
          "more of them; add images, or lower it",
          data_.images.count, experiment_.join.min_images);
    }
    if (const auto why = TooFewImages(experiment_.privacy, data_.images.count);
        why && method_->FeaturesToShare() > 0) {
      throw DataError("this client has {}", *why);
    }
    const int place = static_cast<int>(offer_.client());
    if (data_.client >= 0 && data_.client != place) {
      spdlog::warn("client.share is that of client {}, the coordinator has this one as {}",
                   data_.client, place);
    }
    data_.client = place;
    state_ = dir_.path() / "state" / offer_.run();
    MakeFolder(state_);
    ::chmod(state_.parent_path().c_str(), 0700);  // updates and states are nobody else's
    data_.secret = experiment_.join.key == "seeded"
                       ? SeededSecret(experiment_.train.seed, place)
                       : DrawnSecret(dir_.path() / "state", offer_.run());
  }

  v1::DownloadRequest Wanted(const v1::PlanReply& plan, v1::DownloadRequest::What what) const {
    v1::DownloadRequest request;
    request.set_run(offer_.run());
    request.set_round(plan.round());
    request.set_what(what);
    return request;
  }

  // The model that the plan names; nullopt when its round is over.
  std::optional<NamedTensors> FetchModel(const v1::PlanReply& plan) {
    if (plan.model_bytes() != BytesOf(shape_.manifest)) {
      throw NetworkError("the coordinator's model has {} bytes, not {}", plan.model_bytes(),
                         BytesOf(shape_.manifest));
    }
    auto bytes = wire_.Download(Wanted(plan, v1::DownloadRequest::MODEL), plan.model_bytes(),
                                plan.model_digest());
    if (!bytes) return std::nullopt;
    received_ += bytes->size();
    NamedTensors model = Clone(Unpack(*bytes, shape_.manifest));
    CheckModel(model);
    return model;
  }

  // What the others share; nullopt when the round is over.
  std::optional<RemoteFeatures> FetchRemote(const v1::PlanReply& plan) {
    RemoteFeatures remote;
    if (plan.remote_rows() == 0) return remote;
    const uint64_t most = static_cast<uint64_t>(experiment_.join.max_download) << 20;
    const auto width = static_cast<uint64_t>(shape_.width);
    const auto wanted = static_cast<uint64_t>(experiment_.features.max_remote);
    if (wanted > 0 && plan.remote_rows() > wanted) {
      throw NetworkError("the coordinator sends {} remote features, features.max_remote allows {}",
                         plan.remote_rows(), wanted);
    }
    if (plan.remote_rows() > most / width ||
        plan.remote_bytes() != BytesOfRows(plan.remote_rows(), width, shape_.precision)) {
      throw NetworkError("{} remote features of the coordinator cannot have {} bytes",
                         plan.remote_rows(), plan.remote_bytes());
    }
    const auto bytes = wire_.Download(Wanted(plan, v1::DownloadRequest::REMOTE),
                                      plan.remote_bytes(), plan.remote_digest());
    if (!bytes) return std::nullopt;
    received_ += bytes->size();
    remote.rows = UnpackRows(*bytes, static_cast<int64_t>(plan.remote_rows()), shape_.width,
                             shape_.precision);
    return remote;
  }

  void Train(const v1::PlanReply& plan) {
    const int round = static_cast<int>(plan.round());
    if (plan.round() >= offer_.rounds()) {
      throw NetworkError("the coordinator asks for round {} of {}", plan.round(), offer_.rounds());
    }
    const std::string digest = PlanDigest(offer_.run(), plan, settings_);
    if (!last_ || last_->run != offer_.run() || last_->round > round) {
      last_ = LoadKeptRound(state_, offer_.run(), round);
    }
    if (last_ && last_->round == round && last_->plan == digest) {
      spdlog::info("round {}: trained before; its update is sent again", round + 1);
    } else {
      auto trained = TrainRound(plan, digest, last_);
      if (!trained) return;
      last_ = std::move(trained);
    }
    Send(plan, *last_);
  }

  // Trains the round and keeps what came of it; nullopt when the round ended meanwhile.
  std::optional<KeptRound> TrainRound(const v1::PlanReply& plan, const std::string& digest,
                                      const std::optional<KeptRound>& before) {
    const int round = static_cast<int>(plan.round());
    auto model = FetchModel(plan);
    if (!model) return std::nullopt;
    auto remote = FetchRemote(plan);
    if (!remote) return std::nullopt;
    KeptRound kept = {.run = offer_.run(), .round = round, .plan = digest, .upload = FreshId()};
    kept.start = !before                  ? method_->NewLocalState()
                 : before->round == round ? Clone(before->start)
                                          : Clone(before->end);
    kept.end = Clone(kept.start);
    if (!(plan.lr() >= 0 && plan.lr() <= 1e3)) {
      throw NetworkError("the coordinator's learning rate is {}", plan.lr());
    }
    const ClientOptions options = ClientOptionsOf(experiment_, input_.normalization);
    const auto start = std::chrono::steady_clock::now();
    if (foundation_) foundation_->Make(&stop_);
    Outcome outcome = TrainClient(*method_,
                                  {.round = round,
                                   .rounds = static_cast<int>(offer_.rounds()),
                                   .lr = plan.lr(),
                                   .model = std::move(*model),
                                   .remote = std::move(*remote)},
                                  data_, options, kept.end, {.stop = &stop_});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    seconds_ += seconds;
    seen_ += outcome.update.report.seen;
    kept.update = PackUpdate(outcome.update, shape_);
    try {
      KeepRound(state_, kept);
    } catch (const Error& error) {
      spdlog::warn(
          "round {} could not be kept: {}; it goes on, but a restart now would train it again",
          round + 1, error.what());
    }
    spdlog::info("round {}/{}: loss {:.4f}, {:.0f} images/s", round + 1, offer_.rounds(),
                 outcome.update.report.loss,
                 static_cast<double>(outcome.update.report.seen) / seconds);
    return kept;
  }

  void Send(const v1::PlanReply& plan, const KeptRound& kept) {
    v1::UploadHeader header = kept.update.header;
    header.mutable_key()->set_run(offer_.run());
    header.mutable_key()->set_round(plan.round());
    header.mutable_key()->set_id(kept.upload);
    header.set_nonce(plan.nonce());
    answered_ = plan.nonce();
    const UploadEnd end = wire_.Upload(SealUpload(header, kept.update.bytes), kept.update.bytes);
    if (end == UploadEnd::kAccepted) sent_ += kept.update.bytes.size();
    if (end == UploadEnd::kStale) {
      spdlog::info("round {}: too late, it went on without this client", plan.round() + 1);
    }
  }

  // The run is over: the trained model, written as a run leaves it. Nothing when the coordinator
  // went away meanwhile.
  std::optional<Json> TakeModel(const v1::PlanReply& plan) {
    const auto model = FetchModel(plan);
    if (!model) return std::nullopt;
    RunState state;
    state.next_round = static_cast<int>(offer_.rounds());
    state.server.global = *model;
    state.progress = "{}";
    state.identity = offer_.run();
    state.input = input_.ToText();
    MakeFolder(dir_.checkpoints());
    LocalStore none(0, dir_.scratch());
    SaveCheckpoint(dir_.checkpoints(), state, none);
    Json summary = ToJson(RunSummary{
        .kind = RunKind::kClient,
        .experiment = experiment_,
        .method = *method_,
        .model = *model,
        .clients = 1,
        .sums = {
            .seconds = seconds_, .images = seen_, .bytes_down = received_, .bytes_up = sent_}});
    summary["run"] = offer_.run();
    summary["client"] = offer_.client();
    summary["images"] = data_.images.count;
    WriteFileAtomically(dir_.summary(), summary.dump(2) + "\n");
    return summary;
  }

  Experiment& experiment_;
  const DataOptions own_data_;  // before a coordinator's images were fitted to
  Config& config_;
  const RunDir& dir_;
  const std::atomic<bool>& stop_;
  GrpcClient wire_;
  v1::JoinReply offer_;
  EncoderInput input_;
  std::shared_ptr<Foundation> foundation_;  // null: the method needs none
  std::unique_ptr<Method> method_;
  UploadShape shape_;
  ClientData data_;
  std::string loaded_;  // what data_ was loaded for
  std::filesystem::path state_;
  std::optional<KeptRound> last_;  // as it was kept, or should have been
  std::string answered_;           // nonce of the plan that was answered last
  std::string settings_;           // their digest
  uint64_t received_ = 0, sent_ = 0;
  double seconds_ = 0;
  int64_t seen_ = 0;
};

}  // namespace

Json TakePart(Experiment& experiment, Config& config, const std::optional<Kit>& kit,
              const RunDir& dir, const std::atomic<bool>& stop) {
  Participant participant(experiment, config, kit, dir, stop);
  try {
    return participant.Run();
  } catch (...) {  // whatever it is, nobody is to wait for this client
    participant.SayGoodbye();
    throw;
  }
}

}  // namespace kindred
