// Where uploads come in: begun, broken off, given room, handed to the round when they are whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "federation/served_run.h"
#include "federation/uploads.h"
#include "transport/transport.h"

namespace kindred {

// One of the streams that bring an upload.
struct UploadStream {
  std::shared_ptr<IncomingUpload> upload;  // null: it was accepted before, nothing is to be sent
  int turn = 0;
};

// What the client of a whole upload is told by: the refusal, or nothing.
using UploadAnswer = std::function<void(const std::optional<Refused>&)>;

// An upload whose bytes are all here. Its client waits for the answer.
struct WholeUpload {
  std::shared_ptr<IncomingUpload> upload;
  UploadAnswer done;
};

// What became of a whole upload.
struct Verdict {
  std::optional<Refused> refused;  // nullopt: it counts
  bool sits_out = false;           // the client is not asked again in this round
};

// Any thread. `run` must outlive it.
class UploadDesk {
 public:
  explicit UploadDesk(ServedRun& run);

  // --- to be called without the run's lock; what clients ask for throws Refused
  v1::UploadReply Status(const Caller& caller, const v1::UploadKey& key);
  UploadStream Begin(const Caller& caller, const v1::UploadBegin& begin,
                     std::function<void()> admitted);
  bool AddBytes(const UploadStream& stream, std::string_view bytes);
  void End(const UploadStream& stream, UploadAnswer done);
  void Park(UploadStream stream);
  void CountAgainst(const Caller& caller, const Refused& why);
  double NeededRate() const;
  // Bytes of all uploads.
  uint64_t Received() const { return received_; }

  // Gives room to those that wait for it, and tells those that lost their place in the line: they
  // come to read.
  void Tick();

  // What the round makes of a whole upload, which makes room for others.
  Later Settle(WholeUpload& whole, const Verdict& verdict);

  // --- to be called with the run's lock
  // The first of the whole uploads, if there is one.
  std::optional<WholeUpload> Next();
  // The round is over: forgets its uploads. Gives those that came too late.
  std::vector<WholeUpload> CloseRound();

 private:
  // --- with the run's lock
  UploadStream BeginIn(OpenRound& round, const Caller& caller, const v1::UploadBegin& begin,
                       std::function<void()> admitted, Later& later);
  RoundPart* PartBy(const UploadStream& stream);
  void Strike(int client, const Refused& why);
  void Drop(RoundPart& part);
  Later Admit();

  ServedRun& run_;
  std::atomic<uint64_t> received_ = 0;
  // Below run_.mutex.
  std::shared_ptr<UploadMemory> memory_;
  UploadLine line_;
  Later displaced_;  // of those that lost their place in the line
  std::deque<WholeUpload> whole_;
};

// A whole upload as the round loop takes it. Throws std::bad_alloc or c10::Error for want of
// memory.
Arrival ArrivalOf(IncomingUpload& upload, const UploadShape& shape);

}  // namespace kindred
