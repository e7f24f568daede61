#include "fetch/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>

#include "base/error.h"

namespace kindred {
namespace {

Error Damaged(archive* reader, const std::string& name) {
  const char* why = archive_error_string(reader);
  return DataError("{}: damaged archive ({})", Printable(name),
                   Printable(why != nullptr ? why : "unreadable"));
}

Bytes ReadEntry(archive* reader, uint64_t limit, const std::string& name) {
  Bytes content;
  Bytes chunk(1 << 20);
  for (;;) {
    const la_ssize_t got = archive_read_data(reader, chunk.data(), chunk.size());
    if (got < 0) throw Damaged(reader, name);
    if (got == 0) return content;
    if (content.size() + static_cast<size_t>(got) > limit) {
      throw DataError("{}: a file in it is larger than {} bytes", Printable(name), limit);
    }
    content.insert(content.end(), chunk.begin(), chunk.begin() + got);
  }
}

}  // namespace

FileSet ReadArchive(const std::filesystem::path& path, const std::vector<std::string>& wanted,
                    uint64_t limit) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  if (reader == nullptr) throw std::bad_alloc();
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_none(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), 1 << 16) != ARCHIVE_OK) {
    throw Damaged(reader.get(), path.string());
  }
  FileSet files;
  for (;;) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return files;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      throw Damaged(reader.get(), path.string());
    }
    const char* entry_path = archive_entry_pathname(entry);
    if (entry_path == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
    const std::string name = std::filesystem::path(entry_path).filename().string();
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    files[name] = ReadEntry(reader.get(), limit, path.string());
  }
}

}  // namespace kindred
