// A run's folder: what `kindred train` leaves behind.
//
//   config.toml     the resolved configuration          metrics.jsonl   a line a round, a line an
//   evaluation summary.json    how it ended                        train.log       what was printed
//   checkpoints/    to go on from                       tensorboard/    event files
#pragma once

#include <filesystem>

namespace kindred {

class RunDir {
 public:
  // The folder of a new run, made. Throws a refusal (exit code 5) when it holds something already.
  static RunDir Create(const std::filesystem::path& path);

  // The folder of a run to go on with. Throws a data error when there is none.
  static RunDir Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path log() const { return path_ / "train.log"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path scratch() const { return path_ / "scratch"; }

  // Writes tensorboard/ anew from metrics.jsonl: it never holds more than that.
  void WriteTensorboard() const;

 private:
  explicit RunDir(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace kindred
