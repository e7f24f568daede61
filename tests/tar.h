// Tar archives for tests.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace kindred {

// Writes a .tar.gz of the files, under the paths given.
inline void WriteTarGz(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, Bytes>>& files) {
  archive* writer = archive_write_new();
  archive_write_add_filter_gzip(writer);
  archive_write_set_format_ustar(writer);
  Check(archive_write_open_filename(writer, path.c_str()) == ARCHIVE_OK, "tar");
  for (const auto& [name, content] : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    Check(archive_write_header(writer, entry) == ARCHIVE_OK, "tar");
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
}

}  // namespace kindred
