#include "base/pinned_kernels.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace kindred {
namespace {

const char* pinned_to = nullptr;  // set once, before threads start

}  // namespace

bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

std::vector<std::pair<std::string, std::string>> PinnedVariables(bool avx2) {
  return {
      {"OPENBLAS_CORETYPE", avx2 ? "Haswell" : "Prescott"},
      {"ATEN_CPU_CAPABILITY", avx2 ? "avx2" : "default"},
      {"ONEDNN_MAX_CPU_ISA", avx2 ? "AVX2" : "SSE41"},
      {"ONEDNN_DEFAULT_FPMATH_MODE", "STRICT"},
      {"LIBXSMM_TARGET", avx2 ? "hsw" : "wsm"},
  };
}

bool TunesALibrary(std::string_view name) {
  for (const char* prefix : {"OPENBLAS_", "GOTO_", "ATEN_", "ONEDNN_", "DNNL_", "LIBXSMM_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::string WithoutCpuTunables(std::string_view tunables) {
  std::vector<std::string_view> kept;
  for (size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
    end = tunables.find(':', at);
    const std::string_view each = tunables.substr(at, end - at);
    if (!each.starts_with("glibc.cpu.")) kept.push_back(each);
  }
  return fmt::format("{}", fmt::join(kept, ":"));
}

void RestartWithoutCpuTunables(char** argv) {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  if (tunables == nullptr) return;
  const std::string kept = WithoutCpuTunables(tunables);
  if (kept == tunables) return;  // nothing to remove: else it would restart for ever
  ::setenv("GLIBC_TUNABLES", kept.c_str(), 1);
  ::execv("/proc/self/exe", argv);
  throw Error(ExitCode::kInternal,
              fmt::format("cannot restart without glibc.cpu in GLIBC_TUNABLES: {}; unset it",
                          std::strerror(errno)));
}

void PinKernels() {
  std::vector<std::string> removed;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const std::string_view name = variable.substr(0, variable.find('='));
    if (TunesALibrary(name)) removed.emplace_back(name);
  }
  for (const auto& name : removed) ::unsetenv(name.c_str());
  const bool avx2 = HasAvx2();
  for (const auto& [name, value] : PinnedVariables(avx2)) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  pinned_to = avx2 ? "avx2" : "sse";
}

std::string PinnedTo() { return pinned_to != nullptr ? pinned_to : "not pinned"; }

}  // namespace kindred
