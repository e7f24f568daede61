// The header of an upload: what it claims, checked against what the coordinator wants.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/file.h"
#include "client/client_report.h"
#include "federation.pb.h"
#include "transport/refusal.h"
#include "wire/manifest.h"

namespace kindred {

// What an upload of this run must look like.
struct UploadShape {
  Manifest manifest;
  Precision precision = Precision::kFloat;
  int64_t width = 0;  // of features
  int64_t most = 0;   // features that a client shares
};

// An update as it travels: a header without key and nonce, and the bytes.
struct PackedUpdate {
  v1::UploadHeader header;
  Bytes bytes;
};

// What a client says of its round, in a header and out of it. Metrics that are not finite stay out.
void SetReport(const ClientReport& report, v1::UploadHeader& header);
ClientReport ReportIn(const v1::UploadHeader& header);

// The digest of an upload: of its header, which holds the checksum of its bytes, in an order that
// no serializer can change.
std::string DigestOf(const v1::UploadHeader& header);

// How an upload of these bytes begins: with their checksum, and the digest.
v1::UploadBegin SealUpload(const v1::UploadHeader& header, std::span<const uint8_t> bytes);

// Why the header cannot be that of an update; nullopt when it can. Sizes are computed from the
// coordinator's own manifest, never from what the header says.
std::optional<Refused> CheckHeader(const v1::UploadHeader& header, const UploadShape& shape);

}  // namespace kindred
