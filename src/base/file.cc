#include "base/file.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace kindred {
namespace {

// An open descriptor, closed with the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

Error FileError(const std::filesystem::path& path, std::string_view doing) {
  return DataError("{}: cannot {}: {}", Printable(path.string()), doing, std::strerror(errno));
}

void SyncFolder(const std::filesystem::path& folder) {
  Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.ok() || ::fsync(directory.get()) != 0) throw FileError(folder, "sync the folder");
}

}  // namespace

Bytes ReadFile(const std::filesystem::path& path, uint64_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.ok()) throw FileError(path, "open the file");
  struct stat status;
  if (::fstat(file.get(), &status) != 0) throw FileError(path, "look at the file");
  if (!S_ISREG(status.st_mode)) {
    throw DataError("{}: not a regular file", Printable(path.string()));
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > limit) {
    throw DataError("{}: {} bytes, more than the {} that are read", Printable(path.string()), size,
                    limit);
  }
  Bytes bytes(size);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(path, "read the file");
    if (got == 0) throw DataError("{}: became shorter while it was read", Printable(path.string()));
    done += static_cast<size_t>(got);
  }
  return bytes;
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  if (FileExists(path)) {
    if (!std::filesystem::is_regular_file(path)) {
      throw DataError("{}: is there and not a regular file", Printable(path.string()));
    }
    path_ = std::filesystem::canonical(path);  // a link stays; what it leads to is replaced
  }
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  // Drawn, since processes in two containers may have one number, and never a file that is there:
  // somebody else's, or a link that leads elsewhere.
  do {
    temporary_ =
        folder / fmt::format(".tmp-{:08x}{:08x}", randombytes_random(), randombytes_random());
    descriptor_ =
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) throw FileError(path_, "write here");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::Write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw FileError(path_, "write the file");
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
}

void AtomicFile::Commit() {
  if (::fsync(descriptor_) != 0) throw FileError(path_, "sync the file");
  if (::close(std::exchange(descriptor_, -1)) != 0) throw FileError(path_, "close the file");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw FileError(path_, "put the file in place");
  }
  committed_ = true;
  SyncFolder(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
}

void WriteFileAtomically(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  AtomicFile file(path);
  file.Write(bytes);
  file.Commit();
}

void WriteFileAtomically(const std::filesystem::path& path, std::string_view text) {
  WriteFileAtomically(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

bool FileExists(const std::filesystem::path& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (error)
    throw DataError("{}: cannot be looked at: {}", Printable(path.string()), error.message());
  return exists;
}

bool IsFolder(const std::filesystem::path& path) {
  return FileExists(path) && std::filesystem::is_directory(path);
}

void MakeFolder(const std::filesystem::path& path) {
  if (IsFolder(path)) return;
  const auto above = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  MakeFolder(above);  // from the top: a power cut takes no folder that has something in it
  std::error_code error;
  const bool made = std::filesystem::create_directory(path, error);
  if (error) throw DataError("{}: cannot be made: {}", Printable(path.string()), error.message());
  if (made) SyncFolder(above);
}

void RefuseToOverwrite(const std::filesystem::path& path, bool force) {
  if (IsFolder(path)) {
    throw Error(ExitCode::kExists, fmt::format("{}: a folder is there; choose another name",
                                               Printable(path.string())));
  }
  if (!force && FileExists(path)) {
    throw Error(ExitCode::kExists,
                fmt::format("{}: is there already; choose another --out, or give --force",
                            Printable(path.string())));
  }
}

void SyncFile(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok() || ::fsync(file.get()) != 0) throw FileError(path, "sync the file");
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw FileError(folder, "open the folder");
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw Error(ExitCode::kExists,
                fmt::format("{}: another process works in it; wait for it, or take another --out",
                            Printable(folder.string())));
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  std::string name = (parent / ".tmp-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw FileError(parent, "make a folder here");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path CacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "kindred";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "kindred";
  }
  throw UsageError("neither HOME nor XDG_CACHE_HOME is set; say where the data is with data.path");
}

}  // namespace kindred
