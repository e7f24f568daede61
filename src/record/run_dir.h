// A run's folder: what `kindred train` leaves behind.
//
//   config.toml     the resolved configuration
//   config.json     the same for programs, without paths
//   metrics.jsonl   one line per round, per kNN check and per evaluation
//   summary.json    how it ended
//   train.log       what was printed
//   audit.jsonl     of a coordinator: who came, what was refused
//   page/           who owns what, samples, features: for the page alone
//   checkpoints/    to go on from
//   tensorboard/    event files
#pragma once

#include <filesystem>
#include <string>

namespace kindred {

class RunDir {
 public:
  explicit RunDir(std::filesystem::path path) : path_(std::move(path)) {}

  // Throws a refusal (exit code 5) when the folder holds something already.
  static void RefuseUsed(const std::filesystem::path& path);

  // The run's configuration, as a file for people and as one for programs.
  struct ConfigTexts {
    std::string toml, json;
  };
  // Makes the folder, with the configuration in it.
  void Create(const ConfigTexts& config) const;
  void WriteConfig(const ConfigTexts& config) const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path config_json() const { return path_ / "config.json"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path log() const { return path_ / "train.log"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path audit() const { return path_ / "audit.jsonl"; }
  std::filesystem::path page() const { return path_ / "page"; }
  std::filesystem::path scratch() const { return path_ / "scratch"; }
  std::filesystem::path tensorboard() const { return path_ / "tensorboard"; }

 private:
  std::filesystem::path path_;
};

}  // namespace kindred
