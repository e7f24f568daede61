#include "federation/remote_downloads.h"

#include <optional>
#include <utility>

namespace kindred {

// Takes its bytes from the budget before they are made.
class RemoteDownloads::Download {
 public:
  Download(std::shared_ptr<std::atomic<uint64_t>> taken, uint64_t most, uint64_t bytes)
      : taken_(std::move(taken)), bytes_(bytes) {
    uint64_t before = *taken_;
    do {
      if (before > 0 && before + bytes_ > most) {
        throw Refused{Refusal::kBusy,
                      "others' features are on their way to many clients; ask again"};
      }
    } while (!taken_->compare_exchange_weak(before, before + bytes_));
  }
  ~Download() {
    content.reset();
    *taken_ -= bytes_;
  }
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  std::optional<Content> content;

 private:
  const std::shared_ptr<std::atomic<uint64_t>> taken_;
  const uint64_t bytes_;
};

std::shared_ptr<const Content> RemoteDownloads::Begin(RoundPlans& plans, int client) {
  const auto reply = plans.ReplyTo(client);
  if (!reply) throw Refused{Refusal::kRound, "no round is on"};
  const auto download = std::make_shared<Download>(taken_, most_, reply->remote_bytes());
  download->content = plans.RemoteOf(client);
  if (!download->content) throw Refused{Refusal::kRound, "no round is on"};
  return {download, &*download->content};
}

}  // namespace kindred
