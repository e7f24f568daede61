#include "model/library_kernels.h"

#include <ATen/Version.h>
#include <libxsmm.h>

#include <string>

#include "base/pinned_kernels.h"

// Another BLAS, and a LibTorch with oneDNN inside it, do not have these.
extern "C" char* openblas_get_corename() __attribute__((weak));
extern "C" int dnnl_get_effective_cpu_isa() __attribute__((weak));

namespace kindred {
namespace {

// The word behind "CPU capability usage: " in what LibTorch tells of itself.
std::string AtenCapability() {
  const std::string text = at::show_config(), label = "CPU capability usage: ";
  const auto at = text.find(label);
  if (at == std::string::npos) return "unknown";
  const auto from = at + label.size();
  return text.substr(from, text.find_first_of(" \n", from) - from);
}

std::string OnednnIsa() {
  if (dnnl_get_effective_cpu_isa == nullptr) return "unknown";
  switch (dnnl_get_effective_cpu_isa()) {  // dnnl_cpu_isa_t
    case 0x1:
      return "SSE41";
    case 0x3:
      return "AVX";
    case 0x7:
      return "AVX2";
    default:
      return "beyond AVX2";
  }
}

}  // namespace

Json LibraryKernels() {
  return {{"pinned", PinnedTo()},
          {"aten", AtenCapability()},
          {"openblas", openblas_get_corename != nullptr ? openblas_get_corename() : "another BLAS"},
          {"onednn", OnednnIsa()},
          {"libxsmm", libxsmm_get_target_arch()}};
}

}  // namespace kindred
