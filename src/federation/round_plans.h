// What a round hands out to its clients: the model, and to each the others' features.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "transport/transport.h"
#include "wire/upload_header.h"
#include "wire/wire.h"

namespace kindred {

// Any thread. Features are looked up when they are asked for and not kept; of a plan only its reply
// is.
class RoundPlans {
 public:
  // `plan` is that of any client: round, rate and model are the same for all. `plan_for` is not
  // called any more when Close has returned.
  RoundPlans(const PlanFor& plan_for, const Plan& plan, const UploadShape& shape);

  // Of the round as it is announced now: drawn anew when it begins again.
  const std::string& nonce() const { return common_.nonce(); }
  const std::shared_ptr<const Content>& model() const { return model_; }

  // What a client is to do. nullopt: the round is over.
  std::optional<v1::PlanReply> ReplyTo(int client);

  // What the others share with a client. nullopt: the round is over.
  std::optional<Content> RemoteOf(int client);

  // The round is over: returns when no call of plan_for is under way.
  void Close();
  // Whether it is. What was handed out is of no use then.
  std::shared_ptr<const std::atomic<bool>> Over() const { return over_; }

 private:
  class Lookup;

  const PlanFor& plan_for_;
  const Precision precision_;
  const uint64_t row_bytes_;  // of a client's features
  std::shared_ptr<const Content> model_;
  v1::PlanReply common_;  // what all replies have in common

  const std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex mutex_;  // of all below
  std::condition_variable idle_;
  bool closed_ = false;
  int lookups_ = 0;  // calls of plan_for under way
  std::map<int, v1::PlanReply> replies_;
};

}  // namespace kindred
