// Configuration: named keys bound to the fields of option structs, filled from a TOML file, the
// environment and the command line, in that order of rising strength.
//
// A folder that has options declares a struct with defaults and a Bind function that names each
// field; nothing here knows any of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kindred {

// What values a key takes, beyond its type.
struct Allowed {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // for strings; empty: any
  bool changes_result = true;             // false: how, where or how often, not what is computed
  bool is_path = false;                   // of this machine: left out where runs are handed on
  // The client's own key that bounds this one in a federation. Empty: a whole number is bounded by
  // client.max_number, others by `most` alone.
  std::string client_limit = {};
  // The client's own key below which a coordinator may not set this one; empty: none.
  std::string client_least = {};
};

class Config {
 public:
  using Field = std::variant<bool*, int*, uint64_t*, double*, std::string*, std::vector<double>*>;

  // Binds `section.key` to a field, which holds the default and outlives this Config.
  void Bind(const std::string& name, Field field, std::string meaning, Allowed allowed = {});

  // The same for a key that a coordinator sends to its clients.
  void BindForClients(const std::string& name, Field field, std::string meaning,
                      Allowed allowed = {});

  // A key that there was in earlier versions: the configurations of their runs still open while it
  // has the value that did nothing.
  void BindRetired(const std::string& name, std::string neutral);

  // Each throws a usage error that names the key, where it was set, and the nearest known key when
  // it is unknown.
  void ApplyFile(const std::filesystem::path& path);
  void ApplyText(std::string_view text, const std::string& origin);
  void ApplyEnvironment(const char* const* environment);  // KINDRED_SECTION_KEY=value
  void ApplyAssignment(std::string_view assignment);      // "section.key=value", from --set
  // A value given by a flag of its own (`origin`, such as "--workers").
  void Apply(const std::string& name, std::string_view value, const std::string& origin);

  // Where the value of a key came from: "default", a file, a variable, a flag.
  const std::string& OriginOf(const std::string& name) const;

  // The resolved configuration as a TOML file, a comment on each line with meaning and origin.
  std::string ToToml() const;

  // The same as one JSON object of sections, without comments.
  std::string ToJson() const;
  // That with nothing about this machine: paths are null.
  std::string ToJsonWithoutPaths() const;

  // "key = value" of each key that a coordinator sends to its clients.
  std::vector<std::string> ForClients() const;

  // A key whose value is beyond what the client allows: above `limit`, or below it.
  struct Excess {
    std::string key, value, limit, bound;
    bool below = false;
  };
  // The first such key of those named; nullopt: none.
  std::optional<Excess> BeyondLimits(const std::set<std::string>& names) const;

  // "key = value" of each key that changes results, but those of the sections named: equal for runs
  // that must give the same model.
  std::vector<std::string> ResultKeys(const std::vector<std::string>& without = {}) const;

 private:
  struct Key {
    std::string name;  // section.key
    Field field;
    std::string meaning;
    Allowed allowed;
    bool for_clients = false;
    std::string origin = "default";
  };

  void Add(Key key);
  std::string JsonText(bool with_paths) const;
  Key& Find(const std::string& name, const std::string& origin);
  const Key* FindOrNull(const std::string& name) const;

  std::map<std::string, std::string> retired_;
  std::vector<Key> keys_;  // in the order bound; a section's keys are bound together
};

// A TOML file's text as one JSON object of sections; nullopt when it cannot be read.
std::optional<std::string> TomlToJson(std::string_view text);

// The candidate with the smallest edit distance to `word`; empty when there is none within half of
// the word's length.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace kindred
