#include "run/own_data.h"

#include <charconv>
#include <numeric>

#include "base/error.h"
#include "partition/partition.h"

namespace kindred {

OwnShare ShareOf(const Dataset& dataset, const Experiment& experiment) {
  OwnShare own;
  const std::string& share = experiment.join.share;
  if (share.empty()) {
    own.images.resize(static_cast<size_t>(dataset.train.images.count));
    std::iota(own.images.begin(), own.images.end(), 0);
    return own;
  }
  int of = 0;
  const char* end = share.data() + share.size();
  const auto first = std::from_chars(share.data(), end, own.place);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/' ||
      std::from_chars(first.ptr + 1, end, of).ptr != end || own.place < 0 || own.place >= of) {
    throw UsageError("client.share = {}: must be i/C with 0 <= i < C", Printable(share));
  }
  const Partition partition = MakePartition(dataset, experiment.partition);
  if (partition.Clients() != of) {
    throw UsageError("client.share = {}: the partition has {} clients", Printable(share),
                     partition.Clients());
  }
  own.images = partition.clients[static_cast<size_t>(own.place)];
  return own;
}

ClientData OwnData(const Experiment& experiment, const EncoderInput& input, bool labels) {
  const Dataset dataset = LoadDataset(experiment.data);
  CheckFits({.input = input}, dataset.train.images);
  const OwnShare own = ShareOf(dataset, experiment);
  ClientData data;
  data.client = own.place;
  data.images = Select(dataset.train.images, own.images);
  if (labels) {
    if (dataset.train.labels.empty()) {
      throw DataError("the method learns from labels, and these images have none");
    }
    for (const int i : own.images) {
      data.labels.push_back(dataset.train.labels[static_cast<size_t>(i)]);
    }
  }
  return data;
}

}  // namespace kindred
