// What each client keeps between rounds, for a simulation that plays many clients.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "model/named_tensors.h"

namespace kindred {

// Local states by client. Above `limit` bytes in memory the least recently used ones go to files in
// `folder`, scratch that is worth nothing after the process. May be shared between threads; a
// client is taken by one at a time.
class LocalStore {
 public:
  LocalStore(uint64_t limit, std::filesystem::path folder)
      : limit_(limit), folder_(std::move(folder)) {}
  ~LocalStore();
  LocalStore(const LocalStore&) = delete;
  LocalStore& operator=(const LocalStore&) = delete;

  // The client's state, a copy; `fresh()` for one that has none.
  NamedTensors Get(int client, const std::function<NamedTensors()>& fresh);
  void Put(int client, NamedTensors state);

  // Shows the state of a client that has one, without a copy of those in memory. `look` must not
  // use the store.
  void With(int client, const std::function<void(const NamedTensors&)>& look) const;

  // Clients that have a state, in order.
  std::vector<int> Clients() const;
  uint64_t BytesInMemory() const { return in_memory_; }

 private:
  struct Slot {
    NamedTensors state;  // empty while it is in a file
    uint64_t bytes = 0;
    bool spilled = false;
    std::list<int>::iterator use;
  };
  std::filesystem::path FileOf(int client) const;
  NamedTensors Read(int client) const;
  void SpillDownTo(uint64_t limit);

  uint64_t limit_;
  std::filesystem::path folder_;
  uint64_t in_memory_ = 0;
  std::map<int, Slot> slots_;
  std::list<int> used_;  // least recently used first; those in memory
  mutable std::mutex mutex_;
};

}  // namespace kindred
