// An upload: a header, checked against what the coordinator wants, and the bytes that follow it in
// a stream. Never are more bytes kept than were wanted, and complete are only those with the
// header's checksum.
//
// Input: a byte (odd: checksum and digest are mended), then parts, each a length of 16 bits and its
// bytes. The first is the message that begins the upload, the others are the stream's.
#include "federation/uploads.h"
#include "tests/fuzz/target.h"

namespace kindred {
namespace {

const UploadShape kWanted = {.manifest = {{"bias", "F32", {3}, 0, 12},
                                          {"steps", "I64", {}, 12, 8},
                                          {"weight", "F16", {2, 2}, 20, 8}},
                             .precision = Precision::kHalf,
                             .width = 4,
                             .most = 2};
constexpr uint64_t kMostBytes = 12 + 8 + 8 + 2 * 4 * 2;

std::span<const uint8_t> TakeMessage(std::span<const uint8_t>& rest) {
  const size_t low = TakeByte(rest), high = TakeByte(rest);
  const auto part = rest.first(std::min(rest.size(), low | high << 8));
  rest = rest.subspan(part.size());
  return part;
}

// Sends the parts; the bytes of a complete upload, nullopt for a refused or broken one.
std::optional<Bytes> Stream(IncomingUpload& upload, uint64_t offset,
                            const std::vector<std::span<const uint8_t>>& parts) {
  const auto memory = std::make_shared<UploadMemory>(kMostBytes);
  Require(upload.TakeRoom(memory), "one upload always fits");
  try {
    const int turn = upload.NextTurn(offset);
    for (const auto& part : parts) {
      const bool last = upload.Add(turn, AsText(part));
      Require(upload.Received() <= upload.header().bytes(), "more bytes than the header says");
      if (!last) continue;
      upload.Complete(turn);
      return Bytes(upload.bytes().begin(), upload.bytes().end());
    }
  } catch (const Refused&) {
  }
  return std::nullopt;
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  const bool mend = TakeByte(input) % 2 == 1;
  const auto message = TakeMessage(input);
  v1::UploadBegin begin;
  if (!begin.ParseFromArray(message.data(), static_cast<int>(message.size()))) return;
  v1::UploadBegin again;
  Require(again.ParseFromString(begin.SerializeAsString()), "what is written is refused");
  Require(DigestOf(again.header()) == DigestOf(begin.header()), "another header is read");

  std::vector<std::span<const uint8_t>> parts;
  Bytes sent;
  while (!input.empty()) {
    parts.push_back(TakeMessage(input));
    sent.insert(sent.end(), parts.back().begin(), parts.back().end());
  }
  if (mend) {
    const uint64_t offset = begin.offset();
    begin = SealUpload(begin.header(), sent);
    begin.set_offset(offset);
  }
  if (CheckHeader(begin.header(), kWanted)) return;
  Require(begin.header().bytes() <= kMostBytes, "more bytes than are wanted");
  const ClientReport report = ReportIn(begin.header());
  Require(report.metrics.size() <= kMostMetrics && report.steps > 0, "a report beyond its limits");

  IncomingUpload upload(0, begin);
  const auto bytes = Stream(upload, begin.offset(), parts);
  if (!bytes) return;
  Require(bytes->size() == begin.header().bytes(), "a complete upload of another size");
  Require(std::equal(bytes->begin(), bytes->end(), sent.begin()), "other bytes than were sent");
  Require(Checksum().Add(*bytes).Hex() == begin.header().checksum(), "another checksum");
}

}  // namespace kindred
