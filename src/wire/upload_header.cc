#include "wire/upload_header.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

#include "base/digest.h"
#include "base/error.h"

namespace kindred {

namespace {

int64_t BitsOf(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// What the header claims of its tensors. A shape with more axes than any tensor has is not copied.
Manifest ClaimedBy(const v1::UploadHeader& header) {
  Manifest claimed;
  for (const auto& place : header.tensors()) {
    claimed.push_back({place.name(), place.kind(), {}, place.offset(), place.bytes()});
    if (place.shape_size() <= 8) {
      claimed.back().shape.assign(place.shape().begin(), place.shape().end());
    }
  }
  return claimed;
}

}  // namespace

void SetReport(const ClientReport& report, v1::UploadHeader& header) {
  header.set_images(report.images);
  header.set_loss(report.loss);
  header.set_steps(report.steps);
  header.set_seen(report.seen);
  for (const auto& [name, value] : report.metrics) {
    if (std::isfinite(value)) (*header.mutable_metrics())[name] = value;
  }
}

ClientReport ReportIn(const v1::UploadHeader& header) {
  ClientReport report = {.images = header.images(),
                         .loss = header.loss(),
                         .steps = header.steps(),
                         .seen = header.seen()};
  report.metrics.insert(header.metrics().begin(), header.metrics().end());
  return report;
}

std::string DigestOf(const v1::UploadHeader& header) {
  Digest digest;
  digest.Add(std::string_view("kindred upload 1"));
  digest.Add(std::string_view(header.key().run())).Add(int64_t{header.key().round()});
  digest.Add(std::string_view(header.key().id())).Add(std::string_view(header.nonce()));
  digest.Add(int64_t{header.tensors_size()});
  for (const auto& place : header.tensors()) {
    digest.Add(std::string_view(place.name())).Add(std::string_view(place.kind()));
    digest.Add(int64_t{place.shape_size()});
    for (const int64_t size : place.shape()) digest.Add(size);
    digest.Add(static_cast<int64_t>(place.offset())).Add(static_cast<int64_t>(place.bytes()));
  }
  digest.Add(static_cast<int64_t>(header.feature_rows())).Add(header.images());
  digest.Add(BitsOf(header.loss())).Add(header.steps()).Add(header.seen());
  const std::map<std::string, double> metrics(header.metrics().begin(), header.metrics().end());
  for (const auto& [name, value] : metrics) digest.Add(std::string_view(name)).Add(BitsOf(value));
  digest.Add(static_cast<int64_t>(header.bytes())).Add(std::string_view(header.checksum()));
  return digest.Hex();
}

v1::UploadBegin SealUpload(const v1::UploadHeader& header, std::span<const uint8_t> bytes) {
  v1::UploadBegin begin;
  *begin.mutable_header() = header;
  begin.mutable_header()->set_checksum(Checksum().Add(bytes).Hex());
  begin.set_digest(DigestOf(begin.header()));
  return begin;
}

std::optional<Refused> CheckHeader(const v1::UploadHeader& header, const UploadShape& shape) {
  // Counted before anything is copied.
  if (static_cast<size_t>(header.tensors_size()) != shape.manifest.size()) {
    return Refused{Refusal::kManifest,
                   fmt::format("{} tensors, not {}", header.tensors_size(), shape.manifest.size())};
  }
  if (const auto why = CheckManifest(ClaimedBy(header), shape.manifest)) {
    return Refused{Refusal::kManifest, *why};
  }
  if (header.feature_rows() > static_cast<uint64_t>(shape.most)) {
    return Refused{Refusal::kFeatures,
                   fmt::format("{} features, at most {}", header.feature_rows(), shape.most)};
  }
  const uint64_t bytes =
      BytesOf(shape.manifest) +
      BytesOfRows(header.feature_rows(), static_cast<uint64_t>(shape.width), shape.precision);
  if (header.bytes() != bytes) {
    return Refused{Refusal::kSize, fmt::format("{} bytes, not {}", header.bytes(), bytes)};
  }
  if (!std::isfinite(header.loss()) || header.steps() < 1 || header.seen() < 1) {
    return Refused{Refusal::kNumbers, "a loss that is not finite, or no steps"};
  }
  if (header.metrics().size() > kMostMetrics) return Refused{Refusal::kNumbers, "too many metrics"};
  for (const auto& [name, value] : header.metrics()) {
    if (name.size() > kLongestMetricName || !std::isfinite(value)) {
      return Refused{Refusal::kNumbers, fmt::format("the metric {} is invalid", Printable(name))};
    }
  }
  return std::nullopt;
}

}  // namespace kindred
