#include "wire/packed_update.h"

#include "wire/wire.h"

namespace kindred {

PackedUpdate PackUpdate(const Update& update, const UploadShape& shape) {
  PackedUpdate packed;
  const Content model(update.model, shape.manifest);
  const at::Tensor& rows = update.features.rows();
  const Content features(rows, shape.precision);
  packed.bytes.resize(model.size() + features.size());
  model.Read(0, std::span(packed.bytes).first(model.size()));
  features.Read(0, std::span(packed.bytes).subspan(model.size()));
  v1::UploadHeader& header = packed.header;
  for (const auto& span : shape.manifest) {
    auto* place = header.add_tensors();
    place->set_name(span.name);
    place->set_kind(span.kind);
    place->mutable_shape()->Assign(span.shape.begin(), span.shape.end());
    place->set_offset(span.offset);
    place->set_bytes(span.bytes);
  }
  header.set_feature_rows(rows.defined() ? static_cast<uint64_t>(rows.size(0)) : 0);
  SetReport(update.report, header);
  header.set_bytes(packed.bytes.size());
  return packed;
}

}  // namespace kindred
