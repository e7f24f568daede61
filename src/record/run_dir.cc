#include "record/run_dir.h"

#include "base/error.h"
#include "base/file.h"
#include "record/metrics.h"

namespace kindred {

RunDir RunDir::Create(const std::filesystem::path& path) {
  if (FileExists(path) && !(IsFolder(path) && std::filesystem::is_empty(path))) {
    throw Error(
        ExitCode::kExists,
        fmt::format("{}: is in use; --resume goes on with the run there, --out takes another "
                    "folder",
                    Printable(path.string())));
  }
  MakeFolder(path / "checkpoints");
  return RunDir(path);
}

RunDir RunDir::Open(const std::filesystem::path& path) {
  if (!IsFolder(path) || !FileExists(path / "config.toml")) {
    throw DataError("{}: no run to go on with (no config.toml); start one without --resume",
                    Printable(path.string()));
  }
  MakeFolder(path / "checkpoints");
  return RunDir(path);
}

void RunDir::WriteTensorboard() const {
  MakeFolder(path_ / "tensorboard");
  WriteFileAtomically(path_ / "tensorboard" / "events.out.tfevents.kindred",
                      SerializeEvents(ToEvents(ReadMetrics(metrics()))));
}

}  // namespace kindred
