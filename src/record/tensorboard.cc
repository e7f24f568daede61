#include "record/tensorboard.h"

#include <boost/crc.hpp>

#include "tensorboard.pb.h"

namespace kindred {
namespace {

uint32_t MaskedCrc32c(const void* data, size_t size) {
  boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> crc;
  crc.process_bytes(data, size);
  const uint32_t value = crc.checksum();
  return ((value >> 15) | (value << 17)) + 0xa282ead8u;
}

void PutLittleEndian(Bytes& bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void PutRecord(Bytes& bytes, const tensorboard::Event& event) {
  const std::string content = event.SerializeAsString();
  const size_t start = bytes.size();
  PutLittleEndian(bytes, content.size(), 8);
  PutLittleEndian(bytes, MaskedCrc32c(bytes.data() + start, 8), 4);
  bytes.insert(bytes.end(), content.begin(), content.end());
  PutLittleEndian(bytes, MaskedCrc32c(content.data(), content.size()), 4);
}

}  // namespace

Bytes SerializeEvents(const std::vector<ScalarEvent>& events, EventsStart start) {
  Bytes bytes;
  if (start == EventsStart::kFile) {
    tensorboard::Event version;
    version.set_file_version("brain.Event:2");
    PutRecord(bytes, version);
  }
  for (const auto& scalar : events) {
    tensorboard::Event event;
    event.set_wall_time(scalar.wall_time);
    event.set_step(scalar.step);
    for (const auto& [name, number] : scalar.values) {
      auto* value = event.mutable_summary()->add_value();
      value->set_tag(name);
      value->set_simple_value(static_cast<float>(number));
    }
    PutRecord(bytes, event);
  }
  return bytes;
}

}  // namespace kindred
