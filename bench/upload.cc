// What the coordinator adds to a bare upload: 200 clients connected, 50 of them sending 90 MB each
// at once, over gRPC with mutual TLS. Receipt, checks and the exact sum, to a service that reads
// and discards; both interleaved in one run.
//
//   bench_upload [connected] [sending] [MB] [turns]
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <spawn.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <latch>
#include <thread>

#include "base/log.h"
#include "base/parallel.h"
#include "bench/timing.h"
#include "federation.grpc.pb.h"
#include "federation/grpc_client.h"
#include "federation/grpc_server.h"
#include "identity/pki.h"
#include "server/round_loop.h"
#include "wire/packed_update.h"

namespace kindred {
namespace {

// Tensors of so many MB in all, like a network's: a few large ones.
NamedTensors Weights(int megabytes) {
  NamedTensors model;
  torch::manual_seed(7);
  for (int i = 0; i < 16; ++i) {
    model[fmt::format("q/layer{:02}.weight", i)] =
        torch::randn({int64_t{megabytes} << 14, 1}).mul_(0.05);
  }
  return model;
}

UploadShape ShapeOf(const NamedTensors& weights) {
  return {.manifest = ManifestOf(weights, Precision::kFloat), .width = 128, .most = 0};
}

std::string PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return line.substr(6);
  }
  return "";
}

// Reads an upload and forgets it.
class Discarding final : public v1::Federation::CallbackService {
 public:
  grpc::ServerReadReactor<v1::UploadPart>* Upload(grpc::CallbackServerContext*,
                                                  v1::UploadReply* reply) override {
    struct Reader final : grpc::ServerReadReactor<v1::UploadPart> {
      v1::UploadPart part;
      v1::UploadReply* reply = nullptr;
      void OnReadDone(bool ok) override {
        if (ok) {
          StartRead(&part);
          return;
        }
        reply->set_accepted(true);
        Finish(grpc::Status::OK);
      }
      void OnDone() override { delete this; }
    };
    auto* reader = new Reader;
    reader->reply = reply;
    reader->StartRead(&reader->part);
    return reader;
  }
};

// The coordinator's process: rounds until there are no more.
void ServeRounds(const std::string& pki, int sending, int megabytes, int rounds) {
  std::atomic<bool> stop = false;
  Enrolments enrolments(pki);
  const auto quiet = [](const AuditEvent&) {};
  ServerState state = {.global = Weights(megabytes)};
  RunOffer offer = {.run = "bench", .rounds = rounds, .shape = ShapeOf(state.global)};
  const auto enrolled = [&] {
    std::map<int, std::string> all;
    for (const auto& each : enrolments.All()) all[each.place] = each.name;
    return all;
  };
  const auto clients = static_cast<double>(enrolments.All().size());
  Coordinator coordinator({.min_clients = sending}, offer, {}, enrolled, stop, quiet);
  const GrpcServer server("127.0.0.1:0", ReadServerKit(pki), {}, coordinator, enrolments, quiet);
  std::cout << server.address() << std::endl;
  RunRounds({.train = {.rounds = rounds, .participation = sending / clients}}, coordinator, state,
            [&](const RoundReport&) {});
  std::cout << PeakMemory() << std::endl;
}

void ServeDiscarding(const std::string& pki) {
  const ServerKit kit = ReadServerKit(pki);
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = kit.ca;
  options.pem_key_cert_pairs = {{kit.key, kit.certificate}};
  Discarding service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options), &port);
  builder.RegisterService(&service);
  builder.SetMaxReceiveMessageSize(2 << 20);
  const auto server = builder.BuildAndStart();
  std::cout << "127.0.0.1:" << port << std::endl;
  std::cin.get();  // until the other end is gone
}

// This program again, as a server whose first line is its address.
struct Child {
  pid_t pid = 0;
  FILE* out = nullptr;
  int in = -1;
  std::string address;

  explicit Child(std::vector<std::string> words) {
    int from[2], to[2];
    if (::pipe(from) != 0 || ::pipe(to) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    for (const int fd : {from[0], from[1], to[0], to[1]}) {
      posix_spawn_file_actions_addclose(&actions, fd);
    }
    words.insert(words.begin(), "/proc/self/exe");
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    ::close(from[1]);
    ::close(to[0]);
    out = ::fdopen(from[0], "r");
    in = to[1];
    address = Line();
  }
  ~Child() {
    ::close(in);
    int status;
    ::waitpid(pid, &status, 0);
  }
  std::string Line() {
    char line[256] = "";
    if (std::fgets(line, sizeof line, out) == nullptr) return "";
    std::string text = line;
    text.pop_back();
    return text;
  }
};

// Work in threads that all begin at once; the seconds until the last has done.
double Together(int count, const std::function<void(int)>& work) {
  std::latch ready(count + 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ready.arrive_and_wait();
      work(i);
    });
  }
  return Seconds([&] {
    ready.arrive_and_wait();
    threads.clear();
  });
}

int Main(int connected, int sending, int megabytes, int turns) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto pki = folder.path() / "pki";
  InitPki(pki);
  std::vector<Kit> kits;
  for (int i = 0; i < connected; ++i) {
    const auto kit = folder.path() / std::to_string(i);
    IssueKit(pki, kit, {.name = fmt::format("c{}", i), .server = "127.0.0.1:1"});
    kits.push_back(ReadKit(kit));
  }
  Child ours({"serve", pki.string(), std::to_string(sending), std::to_string(megabytes),
              std::to_string(turns)});
  Child bare({"discard", pki.string()});
  NamedTensors weights = Weights(megabytes);
  const UploadShape shape = ShapeOf(weights);
  for (auto& [name, tensor] : weights) tensor += 1e-4;
  const PackedUpdate packed = PackUpdate(
      {.model = weights, .report = {.images = 10, .loss = 1, .steps = 1, .seen = 1}}, shape);
  const std::atomic<bool> stop = false;

  std::vector<std::unique_ptr<GrpcClient>> clients;
  for (const auto& kit : kits) {
    clients.push_back(
        std::make_unique<GrpcClient>(WireClientOptions{.server = ours.address}, kit, stop));
  }
  Together(connected, [&](int i) { clients[static_cast<size_t>(i)]->Join(10); });
  std::vector<double> ours_seconds, bare_seconds;
  for (int turn = 0; turn < turns; ++turn) {
    // Everybody waits for a plan; those who are asked seal their update before the clock starts.
    std::mutex mutex;
    std::vector<std::pair<size_t, v1::UploadBegin>> asked;
    Together(connected, [&](int i) {
      for (int tries = 0; tries < 2; ++tries) {
        const auto plan = clients[static_cast<size_t>(i)]->WaitForPlan("bench");
        if (!plan || plan->state() != v1::PlanReply::TRAIN) {
          const std::lock_guard lock(mutex);
          if (asked.size() >= static_cast<size_t>(sending)) return;
          continue;
        }
        v1::UploadHeader header = packed.header;
        header.mutable_key()->set_run("bench");
        header.mutable_key()->set_round(plan->round());
        header.mutable_key()->set_id("u");
        header.set_nonce(plan->nonce());
        auto begin = SealUpload(header, packed.bytes);
        const std::lock_guard lock(mutex);
        asked.emplace_back(static_cast<size_t>(i), std::move(begin));
        return;
      }
    });
    ours_seconds.push_back(Together(static_cast<int>(asked.size()), [&](int i) {
      const auto& [client, begin] = asked[static_cast<size_t>(i)];
      if (clients[client]->Upload(begin, packed.bytes) != UploadEnd::kAccepted) std::abort();
    }));
    bare_seconds.push_back(Together(static_cast<int>(asked.size()), [&](int i) {
      const auto& [client, begin] = asked[static_cast<size_t>(i)];
      grpc::ChannelArguments arguments;
      arguments.SetSslTargetNameOverride("kindred-coordinator");
      arguments.SetInt("bench.client", i);  // a connection each
      const auto stub = v1::Federation::NewStub(grpc::CreateCustomChannel(
          bare.address,
          grpc::SslCredentials({kits[client].ca, kits[client].key, kits[client].certificate}),
          arguments));
      grpc::ClientContext context;
      v1::UploadReply reply;
      const auto writer = stub->Upload(&context, &reply);
      v1::UploadPart part;
      *part.mutable_begin() = begin;
      writer->Write(part);
      for (uint64_t next = 0; next < packed.bytes.size();) {
        const uint64_t size = std::min(kMostChunk, packed.bytes.size() - next);
        part.set_data(packed.bytes.data() + next, size);
        writer->Write(part);
        next += size;
      }
      writer->WritesDone();
      if (!writer->Finish().ok()) std::abort();
    }));
    fmt::print("turn {}: {} uploads of {} MB: ours {:.2f} s, bare {:.2f} s\n", turn, asked.size(),
               megabytes, ours_seconds.back(), bare_seconds.back());
  }
  std::vector<double> ratios;
  for (size_t i = 0; i < ours_seconds.size(); ++i) {
    ratios.push_back(ours_seconds[i] / bare_seconds[i]);
  }
  fmt::print("ratio upload {:.2f}\n", Median(ratios));
  fmt::print("coordinator's peak memory {}\n", ours.Line());
  return 0;
}

}  // namespace
}  // namespace kindred

int main(int argc, char** argv) {
  using namespace kindred;
  StartLog();
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 5 && words[0] == "serve") {
    ServeRounds(words[1], std::stoi(words[2]), std::stoi(words[3]), std::stoi(words[4]));
    return 0;
  }
  if (words.size() == 2 && words[0] == "discard") {
    ServeDiscarding(words[1]);
    return 0;
  }
  const auto number = [&](size_t i, int otherwise) {
    return i < words.size() ? std::stoi(words[i]) : otherwise;
  };
  return Main(number(0, 200), number(1, 50), number(2, 90), number(3, 3));
}
