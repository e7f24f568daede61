// Numbers that are there already: files of scores/, and tables of other machines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace kindred {

// What tells a number from others. One that agrees in all of it is taken for the one wanted.
struct ScoreKey {
  std::string file;         // its name in scores/, the same on each machine
  std::string config_hash;  // of the run behind it
  uint64_t seed = 0;
  std::string protocol;
  Json eval;      // EvalKeys of the configuration
  int round = 0;  // after which the encoder was taken; 0: the first weights
};

// What of [eval] tells one evaluation from another, beside protocol, labels and seed.
Json EvalKeys(const Json& config);

class ScoreFiles {
 public:
  // `folder` need not exist. `known`: files as Reproduction::WriteTables leaves them, tables.json.
  // Throws a data error for one that is not such a file.
  ScoreFiles(std::filesystem::path folder, const std::vector<std::filesystem::path>& known);

  // The score with its "accuracy" in percent; null when there is none. The folder's own counts
  // before another machine's.
  Json Find(const ScoreKey& key) const;

  // Whether Find takes it from `known`.
  bool IsKnown(const ScoreKey& key) const;

  // Keeps an evaluation, as EvaluateTrained gives it, for Find.
  void Write(const ScoreKey& key, Json evaluation) const;

 private:
  Json FindOwn(const ScoreKey& key) const;

  std::filesystem::path folder_;
  std::map<std::string, std::vector<Json>> known_;  // by their files' names
};

}  // namespace kindred
