// Updates on their way in. Their bytes are kept within a budget of memory; those for which there is
// no room yet wait in line.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/file.h"
#include "wire/upload_header.h"

namespace kindred {

// To be called later, without the lock of whoever gave them.
using Later = std::vector<std::function<void()>>;

// The memory of uploads: how much is taken, and buffers that are ready to be used again. Any
// thread.
class UploadMemory {
 public:
  explicit UploadMemory(uint64_t most) : most_(most) {}

  // An empty buffer with room for so many bytes, if there is: one upload always fits. And back.
  std::optional<Bytes> Take(uint64_t bytes);
  void Return(Bytes buffer);
  // Forgets the buffers that nobody uses.
  void Trim();

 private:
  const uint64_t most_;
  std::mutex mutex_;    // of all below
  uint64_t taken_ = 0;  // bytes of the buffers that are out
  uint64_t kept_ = 0;   // and of those that nobody uses
  std::vector<Bytes> unused_;
};

// An upload's bytes as they come, by one stream after the other: when one breaks the next goes on,
// and late bytes of the one before are refused. Any thread.
class IncomingUpload {
 public:
  IncomingUpload(int client, const v1::UploadBegin& begin)
      : client_(client), header_(begin.header()), digest_(begin.digest()) {}
  ~IncomingUpload();

  int client() const { return client_; }
  const v1::UploadHeader& header() const { return header_; }
  const std::string& digest() const { return digest_; }

  uint64_t Received() const;
  // A stream begins that has the bytes from `offset` on; the one before is over. Throws Refused.
  int NextTurn(uint64_t offset);
  void EndTurn();
  bool IsTurn(int turn) const;
  // The next bytes of the stream. True: they were the last. Throws Refused.
  bool Add(int turn, std::string_view bytes);
  // The stream has brought all. Throws Refused.
  void Complete(int turn);
  // The bytes of an upload that is complete.
  std::span<uint8_t> bytes() { return bytes_; }

  // Takes room for all of its bytes; false: there is none.
  bool TakeRoom(const std::shared_ptr<UploadMemory>& memory);
  bool HasRoom() const;

 private:
  const int client_;
  const v1::UploadHeader header_;
  const std::string digest_;
  mutable std::mutex mutex_;              // of all below
  std::shared_ptr<UploadMemory> memory_;  // its room is of it; null: none yet
  int turn_ = 0;                          // of the stream that may add bytes
  Bytes bytes_;
  uint64_t parts_ = 0;  // messages that brought them
  Checksum running_;
};

// Those that wait for room, in their order. Not to be shared between threads.
class UploadLine {
 public:
  explicit UploadLine(std::shared_ptr<UploadMemory> memory) : memory_(std::move(memory)) {}

  bool Empty() const { return waiting_.empty(); }
  void Clear() { waiting_.clear(); }
  // `admitted` is to be called when there is room.
  void Enter(std::shared_ptr<IncomingUpload> upload, std::function<void()> admitted);
  // The function of one that waits no longer; null when it did not.
  std::function<void()> Leave(const IncomingUpload& upload);
  // Gives room to as many as there is for, and gives their functions. `make_room` throws out an
  // upload that nobody brings; false: there is none.
  Later Admit(const std::function<bool()>& make_room);

 private:
  struct Waiting {
    std::shared_ptr<IncomingUpload> upload;
    std::function<void()> admitted;
  };
  std::shared_ptr<UploadMemory> memory_;
  std::deque<Waiting> waiting_;
};

}  // namespace kindred
