// Files: read whole with a limit, written so that a reader never sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kindred {

using Bytes = std::vector<uint8_t>;

// The whole file. Throws a data error when it is missing, unreadable, not a regular file, or larger
// than `limit` bytes.
Bytes ReadFile(const std::filesystem::path& path, uint64_t limit);

// A file that is written in pieces and appears whole or not at all: to a temporary name in the same
// folder, then, by Commit, synced, renamed to `path` and the folder synced. After a crash at any
// instant the old file or the new one is there, never a part of one. Every failure is a data error.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  // without Commit nothing is left
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void Write(std::span<const uint8_t> bytes);
  void Commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

// The same in one call.
void WriteFileAtomically(const std::filesystem::path& path, std::span<const uint8_t> bytes);
void WriteFileAtomically(const std::filesystem::path& path, std::string_view text);

// Whether something is there, or a folder is. Throws a data error when that cannot be found out: a
// folder above that may not be entered, a loop of links, an overlong name.
bool FileExists(const std::filesystem::path& path);
bool IsFolder(const std::filesystem::path& path);

// Makes the folder and those above it, where they are missing.
void MakeFolder(const std::filesystem::path& path);

// Throws a refusal (exit code 5) when something is at `path`, unless `force`.
void RefuseToOverwrite(const std::filesystem::path& path, bool force);

// Makes sure that what was written to the file is on the disk. Throws a data error when it is not.
void SyncFile(const std::filesystem::path& path);

// A folder that this process alone works in while the value lives. Throws a refusal (exit code 5)
// when another process has it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// A new folder, deleted with all it holds when the value goes out of scope.
class TemporaryFolder {
 public:
  // Made inside `parent`, which must exist.
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Where Kindred keeps downloaded datasets: $XDG_CACHE_HOME/kindred, or ~/.cache/kindred.
std::filesystem::path CacheFolder();

}  // namespace kindred
