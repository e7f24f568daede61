// A client's end of the wire. Outages are waited out; refusals are not.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "identity/kit.h"
#include "wire/upload_header.h"

namespace kindred {

struct WireClientOptions {
  std::string server;                // HOST:PORT
  std::string name;                  // for a wire in plain text
  double patience = 600;             // seconds that a coordinator may be out of reach
  uint64_t most_download = 1 << 30;  // bytes that the coordinator may send at a time
};

// How an upload ended.
enum class UploadEnd { kAccepted, kStale, kRefused };

// Not to be shared between threads.
class GrpcClient {
 public:
  // Without a kit the wire is plain text, for a coordinator on this machine: throws a network error
  // for another. When `stop` is set calls leave by Interrupted.
  GrpcClient(const WireClientOptions& options, const std::optional<Kit>& kit,
             const std::atomic<bool>& stop);
  ~GrpcClient();

  // Each throws a network error when it is refused, or when the coordinator is out of reach for too
  // long.
  v1::JoinReply Join(int64_t images);

  // What to do now. nullopt: the coordinator does not know this client or its run; join again.
  std::optional<v1::PlanReply> WaitForPlan(const std::string& run);

  // A round's model or remote features, resumed where a transfer broke. nullopt: the round is over.
  std::optional<Bytes> Download(const v1::DownloadRequest& request, uint64_t bytes,
                                const std::string& digest);

  // Sends an update, which SealUpload has begun. kStale: its round is over, or another nonce
  // counts; kRefused: with a warning.
  UploadEnd Upload(v1::UploadBegin begin, std::span<const uint8_t> bytes);

  // Nobody needs to wait for this client: it goes or, when `has_model`, has the trained model safe.
  // Without waiting long, and whether or not it is heard.
  void Leave(const std::string& run, bool has_model);

 private:
  struct Wire;
  std::unique_ptr<Wire> wire_;
};

}  // namespace kindred
