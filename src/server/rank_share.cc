#include "server/rank_share.h"

#include <torch/torch.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "wire/wire.h"

namespace kindred {
namespace {

using Value = nlohmann::json;

// Features as bytes: the ranks are of one program, so the machine's own floats will do.
Value ToValue(const Arrival& arrival) {
  const ClientReport& report = arrival.report;
  Value value = {{"client", arrival.client}, {"images", report.images}, {"loss", report.loss},
                 {"steps", report.steps},    {"seen", report.seen},     {"rows", 0},
                 {"metrics", report.metrics}};
  if (arrival.features.defined()) {
    const Content content(arrival.features, Precision::kFloat);
    Bytes bytes(content.size());
    content.Read(0, bytes);
    value["rows"] = arrival.features.size(0);
    value["width"] = arrival.features.size(1);
    value["features"] = Value::binary(std::move(bytes));
  }
  return value;
}

Arrival FromValue(const Value& value) {
  Arrival arrival = {.client = value.at("client"),
                     .model = {},
                     .features = {},
                     .report = {.images = value.at("images"),
                                .loss = value.at("loss"),
                                .steps = value.at("steps"),
                                .seen = value.at("seen"),
                                .metrics = value.at("metrics").get<Metrics>()}};
  if (const int64_t rows = value.at("rows"); rows > 0) {
    arrival.features =
        UnpackRows(value.at("features").get_binary(), rows, value.at("width"), Precision::kFloat);
  }
  return arrival;
}

}  // namespace

Bytes BytesOf(const RankShare& share) {
  Value value = {
      {"down", share.traffic.down}, {"up", share.traffic.up}, {"cpu_seconds", share.cpu_seconds}};
  value["arrivals"] = Value::array();
  for (const auto& [client, arrival] : share.arrivals) {
    value["arrivals"].push_back(ToValue(arrival));
    value["arrivals"].back()["norm"] = share.norms.at(client);
  }
  return Value::to_cbor(value);
}

RankShare RankShareIn(const Bytes& bytes) {
  const Value value = Value::from_cbor(bytes);
  RankShare share;
  share.traffic = {.down = value.at("down"), .up = value.at("up")};
  share.cpu_seconds = value.at("cpu_seconds");
  for (const auto& each : value.at("arrivals")) {
    Arrival arrival = FromValue(each);
    share.norms[arrival.client] = each.at("norm");
    share.arrivals.emplace(arrival.client, std::move(arrival));
  }
  return share;
}

void BroadcastTensors(Ranks& ranks, NamedTensors& tensors) {
  if (ranks.Alone()) return;
  const Manifest manifest = ManifestOf(tensors, Precision::kFloat);
  Bytes bytes;
  if (ranks.Leads()) bytes = Pack(tensors, manifest);
  ranks.Broadcast(bytes);
  if (!ranks.Leads()) tensors = Clone(Unpack(bytes, manifest));
}

}  // namespace kindred
