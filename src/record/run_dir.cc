#include "record/run_dir.h"

#include "base/error.h"
#include "base/file.h"

namespace kindred {

void RunDir::RefuseUsed(const std::filesystem::path& path) {
  if (!FileExists(path)) return;
  bool used = !IsFolder(path);
  if (!used) {
    // What a killed start leaves, before there is a configuration, is no run.
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      used |= !entry.path().filename().string().starts_with(".tmp-");
    }
  }
  if (used) {
    throw Error(
        ExitCode::kExists,
        fmt::format("{}: is in use; --resume goes on with the run there, --out takes another "
                    "folder",
                    Printable(path.string())));
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
