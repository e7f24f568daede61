#include "cli/learning_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/pinned_kernels.h"
#include "build.h"

namespace kindred {
namespace {

bool loaded = false;

constexpr const char* kProgram = "/proc/self/exe";
constexpr const char* kLibrary = "libkindred_learn.so";

// Where the library may be: beside the program in a build folder, in lib/ where it is installed.
std::filesystem::path LibraryPath() {
  const auto folder = std::filesystem::read_symlink(kProgram).parent_path();
  const std::filesystem::path places[] = {folder / kLibrary, folder / "../lib/kindred" / kLibrary};
  for (const auto& place : places) {
    if (FileExists(place)) return place;
  }
  throw Error(
      ExitCode::kInternal,
      fmt::format(
          "{} is missing: looked for {} and {}; reinstall kindred, its program and its library",
          kLibrary, Printable(places[0].string()),
          Printable(places[1].lexically_normal().string())));
}

const Learning& Load() {
  PinKernels();
  const auto path = LibraryPath();
  // Global: the plugins of MPI look for its symbols.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  loaded = library != nullptr;
  if (!loaded) {
    const std::string why = ::dlerror();
    throw Error(ExitCode::kInternal,
                fmt::format("{}; {}", Printable(why),
                            why.starts_with(path.string())
                                ? "the library is damaged or cannot be read: reinstall kindred"
                                : "install the packages that docs/deploy.md lists"));
  }
  const auto entry =
      reinterpret_cast<decltype(&KindredLearning)>(::dlsym(library, "KindredLearning"));
  if (entry == nullptr || std::string_view(entry()->build) != KINDRED_BUILD) {
    throw Error(ExitCode::kInternal,
                fmt::format("{} belongs to another build of kindred; reinstall both",
                            Printable(path.string())));
  }
  return *entry();
}

}  // namespace

bool LearningIsLoaded() { return loaded; }

const Learning& LoadLearning() {
  static const Learning& learning = Load();
  return learning;
}

}  // namespace kindred
