#include "record/run_dir.h"

#include "base/error.h"
#include "base/file.h"
#include "record/metrics.h"

namespace kindred {

void RunDir::RefuseUsed(const std::filesystem::path& path) {
  if (FileExists(path) && !(IsFolder(path) && std::filesystem::is_empty(path))) {
    throw Error(
        ExitCode::kExists,
        fmt::format("{}: is in use; --resume goes on with the run there, --out takes another "
                    "folder",
                    Printable(path.string())));
  }
}

void RunDir::Create(const std::string& config) const {
  MakeFolder(checkpoints());
  WriteFileAtomically(this->config(), config);
}

void RunDir::WriteTensorboard() const {
  MakeFolder(path_ / "tensorboard");
  WriteFileAtomically(path_ / "tensorboard" / "events.out.tfevents.kindred",
                      SerializeEvents(ToEvents(ReadMetrics(metrics()))));
}

}  // namespace kindred
