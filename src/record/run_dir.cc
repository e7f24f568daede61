#include "record/run_dir.h"

#include "base/error.h"
#include "base/file.h"

namespace kindred {

void RunDir::RefuseUsed(const std::filesystem::path& path) {
  if (!FileExists(path)) return;
  const auto refuse = [&](const char* why) {
    throw Error(ExitCode::kExists, fmt::format("{}: {}", Printable(path.string()), why));
  };
  if (!IsFolder(path)) refuse("is a file, not a folder; choose another --out");
  if (FileExists(path / "config.toml")) {
    refuse("holds a run; continue it with --resume, or choose another --out");
  }
  // What a killed start leaves, before there is a configuration, is no run.
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().filename().string().starts_with(".tmp-")) continue;
    refuse("holds other files; choose another --out");
  }
}

void RunDir::Create(const ConfigTexts& config) const {
  MakeFolder(path_);
  WriteConfig(config);
  MakeFolder(checkpoints());
}

void RunDir::WriteConfig(const ConfigTexts& config) const {
  WriteFileAtomically(this->config(), config.toml);  // first: with it, the folder is a run
  WriteFileAtomically(config_json(), config.json + "\n");
}

}  // namespace kindred
