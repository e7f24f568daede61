#include "federation/round_plans.h"

#include <sodium.h>

namespace kindred {

namespace {

std::string FreshNonce() {
  std::string nonce(16, '\0');
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

}  // namespace

// A call of plan_for under way, which Close waits for.
class RoundPlans::Lookup {
 public:
  explicit Lookup(RoundPlans& plans) : plans_(plans) {
    const std::lock_guard lock(plans_.mutex_);
    may_begin_ = !plans_.closed_;
    if (may_begin_) ++plans_.lookups_;
  }
  ~Lookup() {
    if (!may_begin_) return;
    const std::lock_guard lock(plans_.mutex_);
    --plans_.lookups_;
    plans_.idle_.notify_all();
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  bool MayBegin() const { return may_begin_; }

 private:
  RoundPlans& plans_;
  bool may_begin_ = false;
};

RoundPlans::RoundPlans(const PlanFor& plan_for, const Plan& plan, const UploadShape& shape)
    : plan_for_(plan_for),
      precision_(shape.precision),
      row_bytes_(BytesOfRows(1, static_cast<uint64_t>(shape.width), shape.precision)),
      model_(std::make_shared<const Content>(plan.model, shape.manifest)) {
  common_.set_state(v1::PlanReply::TRAIN);
  common_.set_round(static_cast<uint32_t>(plan.round));
  common_.set_lr(plan.lr);
  common_.set_nonce(FreshNonce());
  common_.set_model_digest(model_->Digest());
  common_.set_model_bytes(model_->size());
}

std::optional<v1::PlanReply> RoundPlans::ReplyTo(int client) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return std::nullopt;
    const auto known = replies_.find(client);
    if (known != replies_.end()) return known->second;
  }
  const std::optional<Content> remote = RemoteOf(client);
  if (!remote) return std::nullopt;
  v1::PlanReply reply = common_;
  if (remote->size() > 0) reply.set_remote_rows(remote->size() / row_bytes_);
  reply.set_remote_bytes(remote->size());
  reply.set_remote_digest(remote->Digest());
  const std::lock_guard lock(mutex_);
  if (closed_) return std::nullopt;
  return replies_.try_emplace(client, std::move(reply)).first->second;
}

std::optional<Content> RoundPlans::RemoteOf(int client) {
  const Lookup lookup(*this);
  if (!lookup.MayBegin()) return std::nullopt;
  return Content(plan_for_(client).remote.rows, precision_);
}

void RoundPlans::Close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  *over_ = true;
  idle_.wait(lock, [&] { return lookups_ == 0; });
}

}  // namespace kindred
