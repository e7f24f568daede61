#include "record/event_file.h"

#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "record/metrics.h"

namespace kindred {

EventFile::EventFile(const std::filesystem::path& folder, std::filesystem::path metrics)
    : path_(folder / "events.out.tfevents.kindred"), metrics_(std::move(metrics)) {
  MakeFolder(folder);
  WriteFileAtomically(path_, SerializeEvents({}));
}

void EventFile::CatchUp() {
  std::ifstream in(metrics_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(read_));
  std::vector<Json> lines;
  uint64_t read = read_;
  for (std::string line; std::getline(in, line) && !in.eof();) {  // a line ends with its newline
    read += line.size() + 1;
    Json json = ParseJson(line);
    if (json.is_object()) lines.push_back(std::move(json));
  }
  if (read == read_) return;
  const Bytes events = SerializeEvents(ToEvents(lines), EventsStart::kGoOn);
  std::error_code gone;
  const uint64_t before = std::filesystem::file_size(path_, gone);
  if (gone) {  // somebody removed it: it begins anew, with all lines
    MakeFolder(path_.parent_path());
    WriteFileAtomically(path_, SerializeEvents({}));
    read_ = 0;
    return CatchUp();
  }
  std::ofstream out(path_, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char*>(events.data()),
            static_cast<std::streamsize>(events.size()));
  out.close();
  if (!out) {
    std::error_code none;
    std::filesystem::resize_file(path_, before, none);  // half an event would end the file
    throw DataError("{}: could not be written; is the disk full?", Printable(path_.string()));
  }
  read_ = read;
}

}  // namespace kindred
