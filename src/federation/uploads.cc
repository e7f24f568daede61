#include "federation/uploads.h"

#include <fmt/format.h>

#include <algorithm>

#include "transport/refusal.h"

namespace kindred {
namespace {

// Parts of an upload at most: so many, and one for each KiB.
constexpr uint64_t kFewParts = 1000, kLeastPart = 1 << 10;

}  // namespace

std::optional<Bytes> UploadMemory::Take(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&](uint64_t size) { return taken_ == 0 || taken_ + size <= most_; };
  const auto fitting = std::find_if(unused_.begin(), unused_.end(), [&](const Bytes& each) {
    return each.capacity() >= bytes && fits(each.capacity());
  });
  Bytes buffer;
  if (fitting != unused_.end()) {
    buffer = std::move(*fitting);
    unused_.erase(fitting);
    kept_ -= buffer.capacity();
  } else {
    if (!fits(bytes)) return std::nullopt;
    while (!unused_.empty() && taken_ + kept_ + bytes > most_) {
      kept_ -= unused_.back().capacity();
      unused_.pop_back();
    }
    buffer.reserve(bytes);
  }
  taken_ += buffer.capacity();
  return buffer;
}

void UploadMemory::Return(Bytes buffer) {
  buffer.clear();
  const std::lock_guard lock(mutex_);
  taken_ -= buffer.capacity();
  kept_ += buffer.capacity();
  unused_.push_back(std::move(buffer));
}

void UploadMemory::Trim() {
  const std::lock_guard lock(mutex_);
  unused_.clear();
  kept_ = 0;
}

IncomingUpload::~IncomingUpload() {
  if (memory_) memory_->Return(std::move(bytes_));
}

uint64_t IncomingUpload::Received() const {
  const std::lock_guard lock(mutex_);
  return bytes_.size();
}

int IncomingUpload::NextTurn(uint64_t offset) {
  const std::lock_guard lock(mutex_);
  if (offset != bytes_.size()) {
    throw Refused{Refusal::kOffset,
                  fmt::format("at {}, but {} bytes are here", offset, bytes_.size())};
  }
  return ++turn_;
}

void IncomingUpload::EndTurn() {
  const std::lock_guard lock(mutex_);
  ++turn_;
}

bool IncomingUpload::IsTurn(int turn) const {
  const std::lock_guard lock(mutex_);
  return turn_ == turn;
}

bool IncomingUpload::Add(int turn, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (turn_ != turn) {
    throw Refused{Refusal::kBusy, "another stream brings this upload, or its round is over"};
  }
  const uint64_t left = header_.bytes() - bytes_.size();
  if (bytes.size() > kMostChunk || bytes.size() > left) {
    throw Refused{Refusal::kSize, "more bytes than the header says, or a chunk above 1 MiB"};
  }
  if (++parts_ > kFewParts + header_.bytes() / kLeastPart) {
    throw Refused{Refusal::kSize, "parts are below 1 KiB"};
  }
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  bytes_.insert(bytes_.end(), first, first + bytes.size());
  running_.Add(std::span(first, bytes.size()));
  return bytes.size() == left;
}

void IncomingUpload::Complete(int turn) {
  const std::lock_guard lock(mutex_);
  if (turn_ != turn) throw Refused{Refusal::kRound, "its round is over"};
  ++turn_;
  if (running_.Hex() != header_.checksum()) {
    throw Refused{Refusal::kDigest, "the bytes do not have the checksum that the header says"};
  }
}

bool IncomingUpload::TakeRoom(const std::shared_ptr<UploadMemory>& memory) {
  const std::lock_guard lock(mutex_);
  auto buffer = memory->Take(header_.bytes());
  if (!buffer) return false;
  memory_ = memory;
  bytes_ = std::move(*buffer);
  return true;
}

bool IncomingUpload::HasRoom() const {
  const std::lock_guard lock(mutex_);
  return memory_ != nullptr;
}

void UploadLine::Enter(std::shared_ptr<IncomingUpload> upload, std::function<void()> admitted) {
  waiting_.push_back({std::move(upload), std::move(admitted)});
}

std::function<void()> UploadLine::Leave(const IncomingUpload& upload) {
  const auto place = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
    return each.upload.get() == &upload;
  });
  if (place == waiting_.end()) return nullptr;
  auto admitted = std::move(place->admitted);
  waiting_.erase(place);
  return admitted;
}

Later UploadLine::Admit(const std::function<bool()>& make_room) {
  Later admitted;
  while (!waiting_.empty()) {
    if (waiting_.front().upload->TakeRoom(memory_)) {
      admitted.push_back(std::move(waiting_.front().admitted));
      waiting_.pop_front();
    } else if (!make_room()) {
      break;
    }
  }
  return admitted;
}

}  // namespace kindred
