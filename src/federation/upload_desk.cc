#include "federation/upload_desk.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace kindred {

namespace {

bool IsUploadOf(const RoundPart& part, const v1::UploadBegin& begin) {
  return part.upload && part.upload->header().key().id() == begin.header().key().id() &&
         part.upload->digest() == begin.digest();
}

void CallAll(const Later& later) {
  for (const auto& call : later) call();
}

}  // namespace

UploadDesk::UploadDesk(ServedRun& run)
    : run_(run),
      memory_(
          std::make_shared<UploadMemory>(static_cast<uint64_t>(run.options.upload_memory) << 20)),
      line_(memory_) {}

v1::UploadReply UploadDesk::Status(const Caller& caller, const v1::UploadKey& key) {
  const std::lock_guard lock(run_.mutex);
  run_.CheckIn(caller, key.run());
  const RoundPart& part = run_.RoundNow().PartOf(caller.place, key.round());
  v1::UploadReply reply;
  reply.set_accepted(!part.accepted.empty());
  if (part.upload && part.upload->header().key().id() == key.id()) {
    reply.set_received(part.upload->Received());
  }
  return reply;
}

UploadStream UploadDesk::Begin(const Caller& caller, const v1::UploadBegin& begin,
                               std::function<void()> admitted) {
  UploadStream stream;
  Later later;
  {
    const std::lock_guard lock(run_.mutex);
    try {
      run_.CheckIn(caller, begin.header().key().run());
      stream = BeginIn(run_.RoundNow(), caller, begin, std::move(admitted), later);
    } catch (const Refused& why) {
      if (run_.roster.Has(caller.place)) Strike(caller.place, why);
      throw;
    }
  }
  CallAll(later);
  return stream;
}

UploadStream UploadDesk::BeginIn(OpenRound& round, const Caller& caller,
                                 const v1::UploadBegin& begin, std::function<void()> admitted,
                                 Later& later) {
  RoundPart& part = round.PartOf(caller.place, begin.header().key().round());
  if (!part.accepted.empty()) {
    if (part.accepted == begin.digest()) return {};
    throw Refused{Refusal::kDuplicate,
                  "another update of this client counts already in this round"};
  }
  round.CheckBegin(part, begin, run_.roster.at(caller.place).images, run_.offer.shape);
  if (!IsUploadOf(part, begin)) {
    Drop(part);
    part.upload = std::make_shared<IncomingUpload>(caller.place, begin);
  }
  UploadStream stream = {part.upload, part.upload->NextTurn(begin.offset())};
  part.streaming = true;
  if (auto before = line_.Leave(*part.upload)) displaced_.push_back(std::move(before));
  if (part.upload->HasRoom()) {
    later.push_back(std::move(admitted));
  } else {
    line_.Enter(part.upload, std::move(admitted));
    later = Admit();
  }
  return stream;
}

bool UploadDesk::AddBytes(const UploadStream& stream, std::string_view bytes) {
  try {
    const bool last = stream.upload->Add(stream.turn, bytes);
    received_ += bytes.size();
    return last;
  } catch (const Refused& why) {
    const std::lock_guard lock(run_.mutex);
    Strike(stream.upload->client(), why);
    throw;
  }
}

void UploadDesk::End(const UploadStream& stream, UploadAnswer done) {
  const std::lock_guard lock(run_.mutex);
  try {
    stream.upload->Complete(stream.turn);
  } catch (const Refused& why) {
    Strike(stream.upload->client(), why);
    throw;
  }
  RoundPart* part = PartBy(stream);
  if (part == nullptr) throw Refused{Refusal::kRound, "its round is over"};
  part->streaming = false;
  part->whole = true;
  whole_.push_back({stream.upload, std::move(done)});
  run_.changed.notify_all();
}

void UploadDesk::Park(UploadStream stream) {
  Later later;
  {
    const std::lock_guard lock(run_.mutex);
    RoundPart* part = PartBy(stream);
    if (part == nullptr || !stream.upload->IsTurn(stream.turn)) return;  // another stream has it
    part->streaming = false;
    line_.Leave(*stream.upload);
    stream = {};  // or its room would not be free when it has to go
    later = Admit();
  }
  CallAll(later);
}

void UploadDesk::CountAgainst(const Caller& caller, const Refused& why) {
  const std::lock_guard lock(run_.mutex);
  if (run_.roster.Has(caller.place)) Strike(caller.place, why);
}

double UploadDesk::NeededRate() const {
  const std::lock_guard lock(run_.mutex);
  if (line_.Empty()) return 0;
  return static_cast<double>(BytesOf(run_.offer.shape.manifest)) / (run_.options.deadline / 4);
}

void UploadDesk::Tick() {
  Later later;
  {
    const std::lock_guard lock(run_.mutex);
    later = Admit();
    std::move(displaced_.begin(), displaced_.end(), std::back_inserter(later));
    displaced_.clear();
  }
  CallAll(later);
}

Later UploadDesk::Settle(WholeUpload& whole, const Verdict& verdict) {
  const std::lock_guard lock(run_.mutex);
  const int client = whole.upload->client();
  RoundPart& part = run_.round->parts.at(client);
  if (verdict.refused) {
    part.refused = verdict.sits_out;
    Strike(client, *verdict.refused);
  } else {
    part.accepted = whole.upload->digest();
    run_.roster.Count(client);
  }
  Drop(part);
  whole.upload.reset();  // its room is free
  return Admit();
}

std::optional<WholeUpload> UploadDesk::Next() {
  if (whole_.empty()) return std::nullopt;
  WholeUpload next = std::move(whole_.front());
  whole_.pop_front();
  return next;
}

std::vector<WholeUpload> UploadDesk::CloseRound() {
  for (auto& [client, part] : run_.round->parts) Drop(part);
  line_.Clear();
  memory_->Trim();
  auto late = std::exchange(whole_, {});
  return {std::move_iterator(late.begin()), std::move_iterator(late.end())};
}

// The part that this stream brings the upload of; null when that is over.
RoundPart* UploadDesk::PartBy(const UploadStream& stream) {
  if (!run_.round) return nullptr;
  const auto at = run_.round->parts.find(stream.upload->client());
  if (at == run_.round->parts.end() || at->second.upload != stream.upload) return nullptr;
  return &at->second;
}

void UploadDesk::Strike(int client, const Refused& why) {
  if (!IsStrike(why.reason)) return;
  run_.roster.Strike(client, why.reason, std::chrono::steady_clock::now());
  if (run_.round) {
    const auto part = run_.round->parts.find(client);
    if (part != run_.round->parts.end() && part->second.accepted.empty()) {
      part->second.refused = true;
      Drop(part->second);
    }
  }
  run_.changed.notify_all();
}

// Forgets what has come of an upload; its room is free when the last stream lets go of it.
void UploadDesk::Drop(RoundPart& part) {
  if (!part.upload) return;
  if (auto admitted = line_.Leave(*part.upload)) displaced_.push_back(std::move(admitted));
  part.upload->EndTurn();
  part.upload.reset();
  part.streaming = part.whole = false;
}

// Gives room to those that wait for it, in their order; an upload whose stream broke makes room.
Later UploadDesk::Admit() {
  if (!run_.round) return {};
  return line_.Admit([&] {
    RoundPart* parked = run_.round->Parked();
    if (parked != nullptr) Drop(*parked);
    return parked != nullptr;
  });
}

Arrival ArrivalOf(IncomingUpload& upload, const UploadShape& shape) {
  const v1::UploadHeader& header = upload.header();
  const uint64_t model = BytesOf(shape.manifest);
  Arrival arrival = {.client = upload.client(),
                     .model = Unpack(upload.bytes().first(model), shape.manifest),
                     .report = ReportIn(header)};
  if (header.feature_rows() > 0) {
    arrival.features =
        UnpackRows(upload.bytes().subspan(model), static_cast<int64_t>(header.feature_rows()),
                   shape.width, shape.precision);
  }
  return arrival;
}

}  // namespace kindred
