#include "reproduce/score_files.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"

namespace kindred {
namespace {

Json ReadJson(const std::filesystem::path& path) {
  if (!FileExists(path)) return nullptr;
  const Bytes bytes = ReadFile(path, uint64_t{1} << 28);
  return ParseJson(bytes);
}

Json FieldsOf(const ScoreKey& key) {
  return {{"run_config_hash", key.config_hash},
          {"seed", key.seed},
          {"protocol", key.protocol},
          {"eval", key.eval}};
}

// `most`: what an accuracy is at the most, 1 or 100.
bool Agrees(const Json& score, const ScoreKey& key, double most) {
  if (!score.is_object()) return false;
  const Json wanted = FieldsOf(key);  // items() refers to it
  for (const auto& [name, value] : wanted.items()) {
    Json own = score.value(name, Json());
    if (name == "eval" && own.is_object()) own.erase("protocol");  // it has its own field
    if (own != value) return false;
  }
  const Json encoder = score.value("encoder", Json::object());
  const Json round =
      encoder.is_object() ? encoder.value("round", score.value("round", Json())) : Json();
  if (!round.is_null() && round != key.round) return false;  // numbers of before do not tell
  const Json accuracy = score.value("accuracy", Json());
  return accuracy.is_number() && accuracy.get<double>() >= 0 && accuracy.get<double>() <= most;
}

}  // namespace

Json EvalKeys(const Json& config) {
  Json keys = config.at("eval");
  for (const char* own : {"labels", "scratch", "seed", "seeds", "every", "protocol"})
    keys.erase(own);
  return keys;
}

ScoreFiles::ScoreFiles(std::filesystem::path folder,
                       const std::vector<std::filesystem::path>& known)
    : folder_(std::move(folder)) {
  for (const auto& path : known) {
    if (!FileExists(path)) throw DataError("{}: no such file", Printable(path.string()));
    const Json json = ReadJson(path);
    try {
      for (const auto& table : json.at("tables")) {
        for (const auto& row : table.at("cells")) {
          for (const auto& cell : row) {
            if (!cell.contains("scores")) continue;
            for (const auto& score : cell["scores"]) {
              known_[score.at("file").get<std::string>()].push_back(score);
            }
          }
        }
      }
    } catch (const Json::exception&) {
      throw DataError("{}: not a tables.json of this `kindred reproduce`; leave it out",
                      Printable(path.string()));
    }
  }
}

Json ScoreFiles::FindOwn(const ScoreKey& key) const {
  Json own = ReadJson(folder_ / key.file);
  if (!Agrees(own, key, 1)) return nullptr;
  own["accuracy"] = 100 * own["accuracy"].get<double>();
  return own;
}

bool ScoreFiles::IsKnown(const ScoreKey& key) const {
  return FindOwn(key).is_null() && !Find(key).is_null();
}

Json ScoreFiles::Find(const ScoreKey& key) const {
  if (Json own = FindOwn(key); !own.is_null()) return own;
  if (const auto at = known_.find(key.file); at != known_.end()) {
    for (const auto& score : at->second) {
      if (Agrees(score, key, 100)) return score;
    }
  }
  return nullptr;
}

void ScoreFiles::Write(const ScoreKey& key, Json evaluation) const {
  evaluation["run_config_hash"] = key.config_hash;
  evaluation["eval"] = key.eval;
  MakeFolder(folder_);
  WriteFileAtomically(folder_ / key.file, std::string_view(evaluation.dump(2) + "\n"));
}

}  // namespace kindred
