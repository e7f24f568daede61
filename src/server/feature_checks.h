// Whether shared features can have been made of a client's own images.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

namespace kindred {

// Why not: more than half of the rows are nearly another one of them, or all lie on one line (of
// few rows neither can be said); one is copied bit for bit from `others`, or more than a tenth
// nearly. Nearly: a distance of up to .001, which encodings of different images never come to while
// learning goes on. rows, others: [n, D] unit rows of floats.
std::optional<std::string> WhyNotOwnFeatures(const at::Tensor& rows,
                                             const std::vector<at::Tensor>& others);

}  // namespace kindred
