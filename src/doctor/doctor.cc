#include "doctor/doctor.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/file.h"
#include "base/progress.h"
#include "federation/grpc_client.h"
#include "kernel/kernel_path.h"
#include "method/method.h"
#include "model/encoder.h"
#include "privacy/mechanism_kinds.h"
#include "run/fit.h"
#include "run/own_data.h"
#include "run/setup.h"
#include "run/shared_settings.h"
#include "run/summary.h"

namespace kindred {
namespace {

// Bytes of what a run moves and keeps.
struct RunSizes {
  uint64_t model = 0;     // what travels
  uint64_t local = 0;     // what a client keeps between rounds
  uint64_t features = 0;  // that a client shares
};

RunSizes SizesOf(const Experiment& experiment, const Method& method) {
  return {BytesOf(method.Shared()), BytesOf(method.NewLocalState()),
          BytesOfRows(static_cast<uint64_t>(method.FeaturesToShare()),
                      static_cast<uint64_t>(experiment.model.dim), Precision::kFloat)};
}

Finding SettingsFinding(const Experiment& experiment, const RunSizes& sizes) {
  return {"settings", FindingState::kOk,
          fmt::format("{}, {} of width {}: a model of {}", experiment.method.name,
                      experiment.model.arch, experiment.model.width, HumanBytes(sizes.model))};
}

// The folder's disk, which may have to be made yet.
Finding InspectDisk(const std::filesystem::path& out, uint64_t needed) {
  auto folder = std::filesystem::absolute(out).lexically_normal();
  std::error_code unknown;
  while (!std::filesystem::is_directory(folder, unknown) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  struct statvfs disk;
  if (::statvfs(folder.c_str(), &disk) != 0 || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    return UnwritableFinding(folder);
  }
  return DiskFinding(folder.string(), uint64_t{disk.f_bavail} * disk.f_frsize, needed);
}

Finding InspectMemory(uint64_t needed, const std::string& remedy) {
  std::ostringstream text;
  text << std::ifstream("/proc/meminfo").rdbuf();
  const auto available = AvailableMemory(text.str());
  if (available) return MemoryFinding(*available, needed, remedy);
  return {
      "memory", FindingState::kWarning,
      fmt::format("/proc/meminfo does not say what is available; {} needed", HumanBytes(needed))};
}

// What serve raises its own limit to.
uint64_t MostDescriptors() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return std::min<uint64_t>(limit.rlim_max, 65536);
}

Finding InspectCpu() {
  if (BestKernelPath() == KernelPath::kAvx2) {
    return {"cpu", FindingState::kOk, "AVX2 with FMA: the fast engine's best code"};
  }
  return {
      "cpu", FindingState::kWarning,
      "no AVX2 with FMA: the fast engine runs its portable code, slower and with other last bits",
      "take a newer CPU, if time or equal digests matter"};
}

// Asks the coordinator what is learned.
std::optional<v1::JoinReply> InspectOffer(const std::string& address, const ClientNetwork& network,
                                          Findings& findings) {
  try {
    const std::atomic<bool> go_on = false;
    auto offer = GrpcClient({.server = address, .patience = 0}, network.kit, go_on).Join(0);
    findings.push_back({"greeting", FindingState::kOk,
                        fmt::format("run {}, {} rounds; this is client {}", Printable(offer.run()),
                                    offer.rounds(), offer.client())});
    return offer;
  } catch (const Error& error) {
    findings.push_back(RefusalFinding(error.what(), network.renew));
    return std::nullopt;
  }
}

// What images are to be like: as the coordinator says, else as configured.
ImageKind TakeOffer(const v1::JoinReply& offer, Experiment& experiment, Config& config) {
  ApplySettings({offer.settings().begin(), offer.settings().end()}, experiment, config);
  const EncoderInput input = OfferedInput(offer.input(), experiment);
  DataOptions& data = experiment.data;
  if (data.name == "folder" && data.size == 0) data.size = input.shape.height;
  if (data.name == "folder") data.channels = input.shape.channels;
  const ImageKind images =
      ImageKindOf(input, static_cast<int>(std::min<uint32_t>(offer.classes(), 1 << 20)));
  const Precision precision = offer.half() ? Precision::kHalf : Precision::kFloat;
  const auto method = MakeFittingMethod(ContextOf(experiment, images));
  if (HashOf(ManifestOf(method->Shared(), precision)) != offer.manifest_hash()) {
    throw NetworkError(
        "the coordinator's model has other tensors than this program makes of its settings; "
        "install the same version of kindred on both sides");
  }
  return images;
}

// The images that take part. Returns their bytes.
uint64_t InspectImages(const Experiment& experiment, const std::optional<EncoderInput>& wanted,
                       int least, Findings& findings) {
  try {
    const Dataset dataset = LoadDataset(experiment.data);
    const Images images = Select(dataset.train.images, ShareOf(dataset, experiment).images);
    if (wanted) CheckFits({.input = *wanted}, images);
    findings.push_back(
        ImagesFinding(images.count, {images.channels, images.height, images.width}, least));
    return images.pixels.size();
  } catch (const Error& error) {
    findings.push_back(ProblemOf("data", error));
    findings.back().code = ExitCode::kData;
    return 0;
  }
}

}  // namespace

Findings InspectCoordinator(const Experiment& experiment, const CoordinatorPlace& place) {
  Findings findings;
  const CoordinatorOptions& server = experiment.coordinator;
  const uint64_t clients = std::max(InspectCoordinatorNetwork(experiment, place, findings),
                                    static_cast<uint64_t>(server.min_clients));
  RunSizes sizes;
  try {
    CheckTravels(experiment.privacy);
    const auto method = MakeFittingMethod(ContextOf(experiment, ImageKindOf(experiment.data)));
    sizes = SizesOf(experiment, *method);
    CheckCoordinator(experiment, *method, static_cast<int>(clients));
    findings.push_back(SettingsFinding(experiment, sizes));
  } catch (const Error& error) {
    findings.push_back(ProblemOf("settings", error));
  }
  const uint64_t pool = clients * sizes.features;
  // Two checkpoints and the one that is being written.
  const uint64_t moments = OptimizerNamed(experiment.optimizer.optimizer).moments * sizes.model;
  findings.push_back(InspectDisk(place.out, 3 * (sizes.model + moments + pool)));
  findings.push_back(InspectMemory(
      (static_cast<uint64_t>(server.upload_memory) << 20) + 8 * sizes.model + 4 * pool,
      "lower server.upload_memory, or end other programs"));
  findings.push_back(DescriptorFinding(MostDescriptors(), experiment.wire.connections.total));
  if (server.monitor) InspectImages(experiment, std::nullopt, 1, findings);
  findings.push_back(InspectCpu());
  return findings;
}

Findings InspectClient(Experiment& experiment, Config& config, const ClientPlace& place) {
  Findings findings;
  const ClientNetwork network = InspectClientNetwork(experiment, place, findings);
  std::optional<v1::JoinReply> offer;
  if (network.reached) offer = InspectOffer(experiment.join.server, network, findings);
  RunSizes sizes;
  std::optional<EncoderInput> wanted;
  int least = 1;  // images
  try {
    if (!offer && experiment.data.name == "folder" && experiment.data.size == 0) {
      experiment.data.size = 32;  // what a folder is scaled to when nobody says otherwise
    }
    const ImageKind images =
        offer ? TakeOffer(*offer, experiment, config) : ImageKindOf(experiment.data);
    if (offer) wanted = OfferedInput(offer->input(), experiment);
    const MethodContext context = ContextOf(experiment, images);
    const auto method = MakeFittingMethod(context);
    MakeFoundation(context, experiment.data.name, {});  // are its images here?
    sizes = SizesOf(experiment, *method);
    if (method->FeaturesToShare() > 0) {
      least = MechanismOf(experiment.privacy).least_images(experiment.privacy);
    }
    findings.push_back(SettingsFinding(experiment, sizes));
  } catch (const Error& error) {
    findings.push_back(ProblemOf("settings", error));
  }
  uint64_t pixels = 0;
  if (config.OriginOf("data.name") == "default") {
    findings.push_back({"data", FindingState::kProblem, "no images are configured",
                        "--data FOLDER, or --set data.name=NAME", ExitCode::kUsage});
  } else {
    pixels = InspectImages(experiment, wanted, least, findings);
  }
  InspectSecrets({place.out / "state" / "secret"}, findings);
  if (FinishedSummary(RunDir(place.out))) {
    findings.push_back({"folder", FindingState::kWarning,
                        fmt::format("{} holds a finished run: join ends at once there",
                                    Printable(place.out.string())),
                        "another --out for another run"});
  }
  // Three rounds as they are kept, and the trained model.
  findings.push_back(InspectDisk(
      place.out, 3 * (2 * sizes.local + sizes.model + sizes.features) + 2 * sizes.model));
  findings.push_back(InspectMemory(2 * pixels + 8 * sizes.model + 4 * sizes.local,
                                   "end other programs, or take fewer images with data.limit"));
  findings.push_back(DescriptorFinding(MostDescriptors(), 1));
  findings.push_back(InspectCpu());
  return findings;
}

}  // namespace kindred
