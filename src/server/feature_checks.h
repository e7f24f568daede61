// Whether shared features can have been made of a client's own images.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kindred {

// Rows of features in the order of a column, so that those near to one are found fast: rows that
// are near each other are near in every column. Keeps the tensors, no copy of them.
class OrderedRows {
 public:
  OrderedRows() = default;  // none
  // [n, D] unit rows of floats, by client.
  explicit OrderedRows(const std::map<int, at::Tensor>& rows);

  struct Placed {
    std::array<float, 4> at = {};  // the row in a few columns: most rows need not be looked up
    const float* row = nullptr;
    int client = 0;
  };

  const std::vector<Placed>& rows() const { return placed_; }
  int64_t width() const { return width_; }
  // A row of the same width beside them.
  Placed Place(const float* row, int client) const;
  // Whether another client has the same row, bit for bit.
  bool HasCopy(const Placed& own) const;
  // The least |row - other|^2 over the rows of other clients, or something above `near` squared. Of
  // many rows that are near in the first column it compares those that are nearest there, a fixed
  // number: the work is no more for crafted rows. `compared`, when given, grows by how many.
  float LeastGap(const Placed& own, float near, int64_t* compared = nullptr) const;

 private:
  std::vector<at::Tensor> kept_;
  std::array<int64_t, 4> columns_ = {};
  int64_t width_ = 0;
  std::vector<Placed> placed_;
  std::vector<std::pair<std::string_view, int>> by_bytes_;  // each row and its client, in order
};

// Why not: more than half of the rows are nearly another one of them, or all lie on one line (of
// few rows neither can be said); one is copied bit for bit from another client's, or more than a
// tenth nearly. Nearly: a distance of up to .001, which encodings of different images never come to
// while learning goes on. rows: [n, D] unit rows of floats of this client; shared: of all, D wide.
std::optional<std::string> CheckOwnFeatures(const at::Tensor& rows, int client,
                                            const OrderedRows& shared);

}  // namespace kindred
