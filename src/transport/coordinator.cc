#include "transport/coordinator.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace kindred {

namespace {

constexpr auto kTurn = std::chrono::milliseconds(200);  // how often a wait looks at the stop flag

std::string FreshNonce() {
  std::string nonce(16, '\0');
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

double SecondsSince(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

v1::PlanReply Wait() {
  v1::PlanReply reply;
  reply.set_state(v1::PlanReply::WAIT);
  return reply;
}

// "values: q/conv1 holds nan" is the reason "values".
Refused RefusedFor(const std::string& why) {
  const auto colon = why.find(':');
  if (colon == std::string::npos) return {"values", why};
  return {why.substr(0, colon), why};
}

}  // namespace

Coordinator::Coordinator(const CoordinatorOptions& options, RunOffer offer, Members members,
                         Enrolled enrolled, const std::atomic<bool>& stop,
                         std::function<void(const AuditEvent&)> audit)
    : options_(options),
      offer_(std::move(offer)),
      enrolled_(std::move(enrolled)),
      stop_(stop),
      audit_(std::move(audit)),
      roster_(options, std::move(members)),
      memory_(std::make_shared<UploadMemory>(static_cast<uint64_t>(options.upload_memory) << 20)),
      line_(memory_) {}

// --- what clients ask for

v1::JoinReply Coordinator::Join(const Caller& caller, const v1::JoinRequest& request) {
  if (request.protocol() != kProtocol) {
    throw Refused{"protocol", fmt::format("protocol {}, this coordinator speaks {}; install the "
                                          "same version of kindred on both sides",
                                          request.protocol(), kProtocol)};
  }
  if (request.images() == 0) return Offer(caller);  // asks what is learned, before it joins
  {
    const std::lock_guard lock(mutex_);
    roster_.Join(caller, request.images());
    changed_.notify_all();
  }
  audit_({.event = "join",
          .client = caller.name,
          .detail = fmt::format("{} images, version {}", request.images(),
                                Printable(Shortened(request.version(), 32)))});
  return Offer(caller);
}

v1::JoinReply Coordinator::Offer(const Caller& caller) const {
  v1::JoinReply reply;
  reply.set_protocol(kProtocol);
  reply.set_run(offer_.run);
  reply.set_client(static_cast<uint32_t>(caller.place));
  reply.set_rounds(static_cast<uint32_t>(offer_.rounds));
  for (const auto& setting : offer_.settings) reply.add_settings(setting);
  reply.set_manifest_hash(HashOf(offer_.shape.manifest));
  reply.set_input(offer_.input);
  reply.set_classes(static_cast<uint32_t>(offer_.classes));
  reply.set_data(offer_.data);
  reply.set_half(offer_.shape.precision == Precision::kHalf);
  return reply;
}

// Throws Refused unless the caller is a member of this run in good standing.
void Coordinator::Hear(const Caller& caller, const std::string& run) {
  if (run != offer_.run) {
    throw Refused{"run", fmt::format("another run is on: {}; join it", offer_.run)};
  }
  roster_.Hear(caller);
  if (roster_.IsUsedTwice(caller)) {
    woken_.push_back([this, name = caller.name] {  // without the lock
      Alarm(0, fmt::format("two processes take part as {}: its kit is in use twice, and what they "
                           "send is refused in turns; end one of them, or issue a kit for each",
                           name));
    });
  }
}

OpenRound& Coordinator::RoundOn() {
  if (!round_) throw Refused{"round", "no round is on"};
  return *round_;
}

// What the others share with a client of the round, which waits for calls like this one; unlocks
// meanwhile.
Content Coordinator::BankOf(int client, std::unique_lock<std::mutex>& lock) {
  const PlanFor& plan_for = *round_->plan_for;
  ++busy_;
  const auto done = [&] {
    lock.lock();
    --busy_;
    changed_.notify_all();
  };
  lock.unlock();
  try {
    Content bank(plan_for(client).remote.rows, offer_.shape.precision);
    done();
    return bank;
  } catch (...) {
    done();
    throw;
  }
}

// The plan of a client of the round; unlocks while the bank is looked up.
v1::PlanReply Coordinator::PlanOf(int client, std::unique_lock<std::mutex>& lock) {
  if (final_) {
    v1::PlanReply reply;
    reply.set_state(v1::PlanReply::FINISHED);
    reply.set_round(static_cast<uint32_t>(offer_.rounds));
    reply.set_model_digest(final_digest_);
    reply.set_model_bytes(final_->size());
    return reply;
  }
  if (!CanTrain(client)) return Wait();
  if (const auto& known = round_->parts.at(client).plan) return *known;
  v1::PlanReply reply;
  reply.set_state(v1::PlanReply::TRAIN);
  reply.set_round(static_cast<uint32_t>(round_->number));
  reply.set_lr(round_->lr);
  reply.set_nonce(round_->nonce);
  reply.set_model_digest(round_->model_digest);
  reply.set_model_bytes(round_->model->size());
  const Content bank = BankOf(client, lock);
  if (bank.size() > 0) {
    reply.set_bank_rows(bank.size() / BytesOfRows(1, static_cast<uint64_t>(offer_.shape.width),
                                                  offer_.shape.precision));
  }
  reply.set_bank_bytes(bank.size());
  lock.unlock();
  reply.set_bank_digest(bank.Digest());
  lock.lock();
  if (!CanTrain(client) || round_->nonce != reply.nonce()) return Wait();  // it ended meanwhile
  round_->parts.at(client).plan = reply;
  return reply;
}

void Coordinator::WaitForPlan(const Caller& caller, const v1::PlanRequest& request,
                              std::function<void(const v1::PlanReply&)> answer) {
  std::function<void(const v1::PlanReply&)> replaced;
  std::optional<v1::PlanReply> reply;
  {
    std::unique_lock lock(mutex_);
    Hear(caller, request.run());
    if (dismissed_ || final_ || CanTrain(caller.place)) {
      reply = PlanOf(caller.place, lock);
    } else {
      Waiter& waiter = waiters_[caller.place];  // one a client: whoever asks twice was cut off
      replaced = std::move(waiter.answer);
      waiter = {Clock::now(), std::move(answer)};
    }
  }
  if (reply) answer(*reply);
  if (replaced) replaced(Wait());
}

// Tells those who can train what to do.
void Coordinator::AnswerWaiters(std::unique_lock<std::mutex>& lock) {
  std::vector<int> clients;
  for (const auto& [client, waiter] : waiters_) {
    if (final_ || CanTrain(client)) clients.push_back(client);
  }
  for (const int client : clients) {
    const v1::PlanReply reply = PlanOf(client, lock);
    const auto at = waiters_.find(client);
    if (at == waiters_.end()) continue;
    const auto answer = std::move(at->second.answer);
    waiters_.erase(at);
    lock.unlock();
    answer(reply);
    lock.lock();
  }
}

void Coordinator::Tick() {
  Later later;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiters_, [&](auto& entry) {
      if (SecondsSince(entry.second.since) < options_.poll) return false;
      later.push_back([answer = std::move(entry.second.answer)] { answer(Wait()); });
      return true;
    });
    if (round_) Admit(later);
    // Those that lost their place in the queue come to read, and are told.
    std::move(woken_.begin(), woken_.end(), std::back_inserter(later));
    woken_.clear();
  }
  for (const auto& call : later) call();
}

double Coordinator::NeededRate() const {
  const std::lock_guard lock(mutex_);
  if (line_.Empty()) return 0;
  return static_cast<double>(BytesOf(offer_.shape.manifest)) / (options_.deadline / 4);
}

void Coordinator::CheckMayUpload(const Caller& caller) {
  const std::lock_guard lock(mutex_);
  Hear(caller, offer_.run);
}

void Coordinator::CountAgainst(const Caller& caller, const Refused& why) {
  const std::lock_guard lock(mutex_);
  if (roster_.Has(caller.place)) Strike(caller.place, why);
}

void Coordinator::Dismiss() {
  std::map<int, Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    dismissed_ = true;
    waiters = std::exchange(waiters_, {});
  }
  for (const auto& [client, waiter] : waiters) waiter.answer(Wait());
}

std::shared_ptr<const Content> Coordinator::ContentOf(const Caller& caller,
                                                      const v1::DownloadRequest& request) {
  std::unique_lock lock(mutex_);
  Hear(caller, request.run());
  std::shared_ptr<const Content> content;
  if (final_ && request.what() == v1::DownloadRequest::MODEL) {
    content = final_;
  } else {
    RoundOn().PartOf(caller.place, request.round());
    if (request.what() == v1::DownloadRequest::MODEL) {
      content = round_->model;
    } else {
      const v1::PlanReply plan = PlanOf(caller.place, lock);
      const uint64_t most = static_cast<uint64_t>(options_.upload_memory) << 20;
      if (*banks_ > 0 && *banks_ + plan.bank_bytes() > most) {
        throw Refused{"busy", "others' features are on their way to many clients; ask again"};
      }
      RoundOn().PartOf(caller.place, request.round());  // it may have ended meanwhile
      auto bank = std::make_unique<Content>(BankOf(caller.place, lock));
      *banks_ += bank->size();
      content =
          std::shared_ptr<const Content>(bank.release(), [counter = banks_](const Content* gone) {
            *counter -= gone->size();
            delete gone;
          });
    }
  }
  if (request.offset() > content->size()) {
    throw Refused{"offset", fmt::format("{} of {} bytes", request.offset(), content->size())};
  }
  traffic_.down += content->size() - request.offset();
  return content;
}

v1::UploadReply Coordinator::UploadStatus(const Caller& caller, const v1::UploadKey& key) {
  const std::lock_guard lock(mutex_);
  Hear(caller, key.run());
  const RoundPart& part = RoundOn().PartOf(caller.place, key.round());
  v1::UploadReply reply;
  reply.set_accepted(!part.accepted.empty());
  if (part.upload && part.upload->header().key().id() == key.id()) {
    reply.set_received(part.upload->Received());
  }
  return reply;
}

void Coordinator::Leave(const Caller& caller, const v1::LeaveRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    Hear(caller, request.run());
    if (request.has_model()) {
      has_model_.insert(caller.place);
    } else {
      roster_.Leave(caller.place);
    }
    changed_.notify_all();
  }
  if (!request.has_model()) audit_({.event = "leave", .client = caller.name});
}

// --- uploads

void Coordinator::Strike(int client, const Refused& why) {
  if (!IsStrike(why.reason)) return;
  roster_.Strike(client, why.reason, Clock::now());
  if (round_) {
    const auto part = round_->parts.find(client);
    if (part != round_->parts.end() && part->second.accepted.empty()) {
      part->second.refused = true;
      Drop(part->second);
    }
  }
  changed_.notify_all();
}

// Forgets what has come of an upload; its room is free when the last stream lets go of it.
void Coordinator::Drop(RoundPart& part) {
  if (!part.upload) return;
  if (auto admitted = line_.Leave(*part.upload)) woken_.push_back(std::move(admitted));
  part.upload->EndTurn();
  part.upload.reset();
  part.streaming = part.whole = false;
}

// Gives room to those that wait for it, in their order; an upload whose stream broke makes room.
void Coordinator::Admit(Later& later) {
  auto admitted = line_.Admit([&] {
    RoundPart* parked = round_->Parked();
    if (parked != nullptr) Drop(*parked);
    return parked != nullptr;
  });
  std::move(admitted.begin(), admitted.end(), std::back_inserter(later));
}

// The part that this stream brings the upload of; null when that is over.
RoundPart* Coordinator::PartBy(const UploadStream& stream) {
  if (!round_) return nullptr;
  const auto at = round_->parts.find(stream.upload->client());
  if (at == round_->parts.end() || at->second.upload != stream.upload) return nullptr;
  return &at->second;
}

UploadStream Coordinator::BeginUpload(const Caller& caller, const v1::UploadBegin& begin,
                                      std::function<void()> admitted) {
  Later later;
  UploadStream stream;
  std::unique_lock lock(mutex_);
  try {
    Hear(caller, begin.header().key().run());
    RoundPart& part = RoundOn().PartOf(caller.place, begin.header().key().round());
    if (!part.accepted.empty()) {
      if (part.accepted == begin.digest()) return {};
      throw Refused{"duplicate", "another update of this client counts already in this round"};
    }
    round_->CheckBegin(part, begin, roster_.at(caller.place).images, offer_.shape);
    const bool goes_on = part.upload &&
                         part.upload->header().key().id() == begin.header().key().id() &&
                         part.upload->digest() == begin.digest();
    if (!goes_on) {
      Drop(part);
      part.upload = std::make_shared<IncomingUpload>(caller.place, begin);
    }
    stream = {part.upload, part.upload->NextTurn(begin.offset())};
    part.streaming = true;
    if (auto before = line_.Leave(*part.upload)) woken_.push_back(std::move(before));
    if (part.upload->HasRoom()) {
      later.push_back(std::move(admitted));
    } else {
      line_.Enter(part.upload, std::move(admitted));
      Admit(later);
    }
  } catch (const Refused& why) {
    if (roster_.Has(caller.place)) Strike(caller.place, why);
    throw;
  }
  lock.unlock();
  for (const auto& call : later) call();
  return stream;
}

bool Coordinator::AddBytes(const UploadStream& stream, std::string_view bytes) {
  try {
    const bool last = stream.upload->Add(stream.turn, bytes);
    received_ += bytes.size();
    return last;
  } catch (const Refused& why) {
    const std::lock_guard lock(mutex_);
    Strike(stream.upload->client(), why);
    throw;
  }
}

void Coordinator::EndUpload(const UploadStream& stream,
                            std::function<void(const std::optional<Refused>&)> done) {
  const std::lock_guard lock(mutex_);
  try {
    stream.upload->Complete(stream.turn);
  } catch (const Refused& why) {
    Strike(stream.upload->client(), why);
    throw;
  }
  RoundPart* part = PartBy(stream);
  if (part == nullptr) throw Refused{"round", "its round is over"};
  part->streaming = false;
  part->whole = true;
  ready_.push_back({stream.upload, std::move(done)});
  changed_.notify_all();
}

void Coordinator::ParkUpload(UploadStream stream) {
  Later later;
  {
    const std::lock_guard lock(mutex_);
    RoundPart* part = PartBy(stream);
    if (part == nullptr || !stream.upload->IsTurn(stream.turn)) return;  // another stream has it
    part->streaming = false;
    line_.Leave(*stream.upload);
    stream = {};  // or its room would not be free when it has to go
    Admit(later);
  }
  for (const auto& call : later) call();
}

// --- rounds

void Coordinator::Alarm(int round, const std::string& detail) {
  spdlog::warn("{}{}", round > 0 ? fmt::format("round {}: ", round) : "", detail);
  audit_({.event = "alarm", .round = round, .detail = detail});
}

std::vector<int> Coordinator::Available() {
  const auto since = Clock::now();
  bool first = true, told = false, alarmed = false;
  while (true) {
    if (stop_) throw Interrupted{};
    const auto enrolled = enrolled_();
    std::unique_lock lock(mutex_);
    const Roster::Present present = roster_.Look(enrolled, Clock::now());
    // A run that is under way has its members; the first round waits for those who are enrolled.
    const int enough = std::max(1, options_.min_clients);
    const auto count = static_cast<int>(present.clients.size());
    if (count >= enough &&
        (present.begun || count == present.expected || SecondsSince(since) > options_.patience)) {
      return present.clients;
    }
    if (first || (!told && SecondsSince(since) > options_.patience)) {
      told = !first;
      first = false;
      spdlog::info("{} of {} clients that may come are here; {}", count, present.expected,
                   present.begun
                       ? fmt::format("a round needs {}", enough)
                       : fmt::format("the first round waits for all of them for {:.0f} s, and "
                                     "needs {}",
                                     options_.patience, enough));
    }
    if (count < enough && !present.sitting.empty() && !alarmed) {
      alarmed = true;
      const std::string why = roster_.WhyStuck(present);
      lock.unlock();
      Alarm(0, why);
      lock.lock();
    }
    changed_.wait_for(lock, kTurn);
  }
}

// Whether the round has what it waits for. It goes on without those who missed rounds before, and
// after the deadline without the slow, if it has enough.
Coordinator::Stand Coordinator::StandOf(const Chosen& chosen, Clock::time_point since) const {
  const int accepted = round_->Accepted();
  if (accepted >= chosen.wanted) return Stand::kEnough;
  const int needed = std::min(options_.min_clients, chosen.wanted);
  const auto enrolled = enrolled_();
  int possible = accepted;
  bool waited_for = false, arriving = false;
  for (const int client : chosen.clients) {
    if (!CanTrain(client) || roster_.IsOut(client, enrolled)) continue;
    ++possible;
    const RoundPart& part = round_->parts.at(client);
    if (part.streaming || part.whole) arriving = true;
    if (!roster_.IsSilent(client)) waited_for = true;
  }
  const double waited = SecondsSince(since) / options_.deadline;
  if (accepted >= needed) return waited >= 1 || !waited_for ? Stand::kEnough : Stand::kOpen;
  // What is on its way would have to come again: it is let in, but not for ever.
  const bool over = waited >= (arriving ? 2 : 1);
  return possible < needed || over ? Stand::kTooFew : Stand::kOpen;
}

// An upload that is whole becomes an arrival; the round loop says whether it counts.
void Coordinator::Take(Ready& ready, const OnArrival& on_arrival,
                       std::unique_lock<std::mutex>& lock) {
  IncomingUpload& upload = *ready.upload;
  const auto out = roster_.WhyOut(upload.client(), enrolled_());  // since it began
  const v1::UploadHeader& header = upload.header();
  const int number = round_->number;
  const std::string name = roster_.at(upload.client()).name;
  lock.unlock();
  const UploadShape& shape = offer_.shape;
  const uint64_t model = BytesOf(shape.manifest);
  Arrival arrival = {.client = upload.client(),
                     .model = Unpack(upload.bytes().first(model), shape.manifest),
                     .images = header.images(),
                     .loss = header.loss(),
                     .steps = header.steps(),
                     .seen = header.seen()};
  arrival.metrics.insert(header.metrics().begin(), header.metrics().end());
  if (header.feature_rows() > 0) {
    arrival.features =
        UnpackRows(upload.bytes().subspan(model), static_cast<int64_t>(header.feature_rows()),
                   shape.width, shape.precision);
  }
  std::optional<Refused> refused;
  try {
    if (out) {
      refused = out;
    } else if (const auto why = on_arrival(std::move(arrival))) {
      refused = RefusedFor(*why);
    }
  } catch (...) {
    ready.done(Refused{"round", "the coordinator ends the round"});
    throw;
  }
  audit_({.event = refused ? "refuse" : "accept",
          .client = name,
          .round = number + 1,
          .reason = refused ? refused->reason : "",
          .detail = refused ? refused->message : fmt::format("{} bytes", header.bytes())});
  lock.lock();
  RoundPart& part = round_->parts.at(upload.client());
  Later later;
  if (refused) {
    part.refused = !out;  // or the same would come again; one who left may come back with it
    Strike(upload.client(), *refused);
  } else {
    part.accepted = upload.digest();
    roster_.Count(upload.client());
  }
  Drop(part);
  ready.upload.reset();  // its room is free
  Admit(later);
  lock.unlock();
  ready.done(refused);
  for (const auto& call : later) call();
  lock.lock();
}

// Those of the chosen that the round has waited for, or that were silent before it: the others were
// not needed any more, or are asked again when the round begins again.
std::vector<int> Coordinator::WaitedFor(const Chosen& chosen, Clock::time_point since) const {
  const bool late = SecondsSince(since) >= options_.deadline;
  const auto enrolled = enrolled_();
  std::vector<int> clients;
  for (const int client : chosen.clients) {
    if (roster_.IsOut(client, enrolled)) continue;
    if (late || roster_.IsSilent(client)) clients.push_back(client);
  }
  return clients;
}

// Nobody can reach the round any more; what was under way is told that it is over.
void Coordinator::Close(const std::vector<int>& waited_for, std::unique_lock<std::mutex>& lock) {
  round_->closing = true;
  changed_.wait(lock, [&] { return busy_ == 0; });
  std::vector<std::string> missed;
  for (const int client : waited_for) {
    const RoundPart& part = round_->parts.at(client);
    if (!part.accepted.empty() || part.refused) continue;
    roster_.Miss(client);
    missed.push_back(roster_.at(client).name);
  }
  for (auto& [client, part] : round_->parts) Drop(part);
  const int number = round_->number;
  round_.reset();
  line_.Clear();
  memory_->Trim();
  auto ready = std::move(ready_);
  ready_.clear();
  lock.unlock();
  for (const auto& name : missed) {
    audit_({.event = "miss", .client = name, .round = number + 1});
    spdlog::info("round {}: goes on without {}", number + 1, name);
  }
  for (auto& late : ready) late.done(Refused{"round", "the round is over"});
  lock.lock();
}

std::optional<Traffic> Coordinator::Run(const PlanFor& plan_for, const Chosen& chosen,
                                        const OnArrival& on_arrival) {
  const Plan plan = plan_for(chosen.clients.front());
  auto model = std::make_shared<const Content>(plan.model, offer_.shape.manifest);
  const std::string digest = model->Digest();
  std::unique_lock lock(mutex_);
  traffic_ = {};
  const uint64_t before = received_;
  round_.emplace(OpenRound{.number = plan.round,
                           .lr = plan.lr,
                           .nonce = FreshNonce(),
                           .model = model,
                           .model_digest = digest,
                           .plan_for = &plan_for});
  for (const int client : chosen.clients) round_->parts[client] = {};
  const auto since = Clock::now();
  Stand stand = Stand::kOpen;
  try {
    AnswerWaiters(lock);
    while ((stand = StandOf(chosen, since)) == Stand::kOpen) {
      if (stop_) throw Interrupted{};
      if (!ready_.empty()) {
        Ready ready = std::move(ready_.front());
        ready_.pop_front();
        Take(ready, on_arrival, lock);
        continue;
      }
      changed_.wait_for(lock, kTurn);
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    Close({}, lock);
    throw;
  }
  const int accepted = round_->Accepted();
  Close(WaitedFor(chosen, since), lock);
  if (stand == Stand::kTooFew) {
    const std::string detail =
        fmt::format("{} of {} needed updates came and no more will; the round begins again",
                    accepted, std::min(options_.min_clients, chosen.wanted));
    lock.unlock();
    Alarm(plan.round + 1, detail);
    return std::nullopt;
  }
  roster_.EndRound();
  traffic_.up = received_ - before;
  return traffic_;
}

void Coordinator::Finish(const NamedTensors& model) {
  auto content = std::make_shared<const Content>(model, offer_.shape.manifest);
  std::string digest = content->Digest();
  std::unique_lock lock(mutex_);
  final_ = std::move(content);
  final_digest_ = std::move(digest);
  AnswerWaiters(lock);
  const auto since = Clock::now();
  const auto enrolled = enrolled_();
  while (!stop_ && SecondsSince(since) < options_.linger) {
    const bool all =
        std::all_of(roster_.members().begin(), roster_.members().end(), [&](const auto& entry) {
          return roster_.IsOut(entry.first, enrolled) || has_model_.contains(entry.first);
        });
    if (all) return;
    changed_.wait_for(lock, kTurn);
  }
}

Members Coordinator::CurrentMembers() const {
  const std::lock_guard lock(mutex_);
  return roster_.members();
}

}  // namespace kindred
