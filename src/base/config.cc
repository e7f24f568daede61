#include "base/config.h"

#include <fmt/ranges.h>

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/toml_limits.h"

namespace kindred {
namespace {

constexpr uint64_t kConfigLimit = 1 << 20;  // a larger file is not a configuration

[[noreturn]] void Reject(const std::string& name, const std::string& origin, std::string_view value,
                         std::string_view wanted) {
  throw UsageError("{} = {} (from {}): must be {}", name, Printable(value), Printable(origin),
                   wanted);
}

template <class T>
T ParseNumber(const std::string& name, std::string_view text, const std::string& origin,
              std::string_view wanted) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) Reject(name, origin, text, wanted);
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) Reject(name, origin, text, wanted);
  }
  return value;
}

std::string Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

// Reads "1, 2, 3" or "[1, 2, 3]".
std::vector<double> ParseList(const std::string& name, std::string_view text,
                              const std::string& origin) {
  std::string rest = Trimmed(text);
  if (rest.size() >= 2 && rest.front() == '[' && rest.back() == ']') {
    rest = Trimmed(std::string_view(rest).substr(1, rest.size() - 2));
  }
  std::vector<double> values;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    values.push_back(ParseNumber<double>(name, Trimmed(rest.substr(0, comma)), origin,
                                         "numbers separated by commas"));
    rest = comma == std::string::npos ? "" : Trimmed(std::string_view(rest).substr(comma + 1));
  }
  return values;
}

void CheckRange(const std::string& name, double value, const Allowed& allowed,
                const std::string& origin, std::string_view text) {
  if (value >= allowed.least && value <= allowed.most) return;
  if (std::isinf(allowed.most))
    Reject(name, origin, text, fmt::format("at least {}", allowed.least));
  if (std::isinf(allowed.least))
    Reject(name, origin, text, fmt::format("at most {}", allowed.most));
  Reject(name, origin, text, fmt::format("between {} and {}", allowed.least, allowed.most));
}

// Turns the text into the field's type, checks it and stores it.
struct Store {
  const std::string& name;
  std::string_view text;
  const Allowed& allowed;
  const std::string& origin;

  void operator()(bool* field) const {
    if (text != "true" && text != "false") Reject(name, origin, text, "true or false");
    *field = text == "true";
  }
  void operator()(std::string* field) const {
    const auto& choices = allowed.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
      Reject(name, origin, text, fmt::format("one of {}", fmt::join(choices, ", ")));
    }
    *field = text;
  }
  void operator()(std::vector<double>* field) const {
    auto values = ParseList(name, text, origin);
    for (const double value : values) CheckRange(name, value, allowed, origin, text);
    *field = std::move(values);
  }
  void operator()(int* field) const { Number(field, "a whole number"); }
  void operator()(uint64_t* field) const {
    const std::string_view wanted = "a whole number from 0 to 2^63 - 1";  // what TOML can write
    if (ParseNumber<uint64_t>(name, text, origin, wanted) >> 63) Reject(name, origin, text, wanted);
    Number(field, wanted);
  }
  void operator()(double* field) const { Number(field, "a number"); }

  template <class T>
  void Number(T* field, std::string_view wanted) const {
    const T value = ParseNumber<T>(name, text, origin, wanted);
    CheckRange(name, static_cast<double>(value), allowed, origin, text);
    *field = value;
  }
};

// The value as both TOML and JSON write it.
struct Write {
  std::string operator()(const bool* field) const { return *field ? "true" : "false"; }
  std::string operator()(const int* field) const { return fmt::format("{}", *field); }
  std::string operator()(const uint64_t* field) const { return fmt::format("{}", *field); }
  std::string operator()(const double* field) const { return Real(*field); }
  std::string operator()(const std::string* field) const {
    // JSON's strings are TOML's basic strings; bytes that are not UTF-8 are replaced.
    std::string text =
        nlohmann::json(*field).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    // The one character that JSON takes as it is and TOML does not.
    for (size_t at = text.find('\x7f'); at != std::string::npos; at = text.find('\x7f')) {
      text.replace(at, 1, "\\u007f");
    }
    return text;
  }
  std::string operator()(const std::vector<double>* field) const {
    std::vector<std::string> values;
    for (const double value : *field) values.push_back(Real(value));
    return fmt::format("[{}]", fmt::join(values, ", "));
  }

  // The shortest text that reads back as the same double, always with a point or an exponent.
  static std::string Real(double value) {
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
};

// A TOML value as the text that Store reads; a type that no key has is refused there by its text.
std::string TextOf(const toml::node& node, const std::string& name, const std::string& origin) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* list = node.as_array()) {
    std::vector<std::string> items;
    for (const auto& item : *list) {
      if (!item.is_number()) Reject(name, origin, "a list", "a list of numbers");
      items.push_back(TextOf(item, name, origin));
    }
    return fmt::format("{}", fmt::join(items, ","));
  }
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  Reject(name, origin, "a date or a table", "a plain value");
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replace}));
    }
  }
  return row[b.size()];
}

std::string SectionOf(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(word.size() / 2, 2) + 1;
  for (const auto& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

void Config::Bind(const std::string& name, Field field, std::string meaning, Allowed allowed) {
  Add({name, field, std::move(meaning), std::move(allowed)});
}

void Config::BindForClients(const std::string& name, Field field, std::string meaning,
                            Allowed allowed) {
  Add({name, field, std::move(meaning), std::move(allowed), /*for_clients=*/true});
}

void Config::Add(Key key) {
  Check(FindOrNull(key.name) == nullptr, "a key is bound twice: " + key.name);
  const std::string section = SectionOf(key.name);
  const bool known = std::any_of(keys_.begin(), keys_.end(),
                                 [&](const Key& each) { return SectionOf(each.name) == section; });
  Check(!known || SectionOf(keys_.back().name) == section,
        "a section's keys are not bound together: " + key.name);
  keys_.push_back(std::move(key));
}

void Config::BindRetired(const std::string& name, std::string neutral) {
  retired_[name] = std::move(neutral);
}

const Config::Key* Config::FindOrNull(const std::string& name) const {
  const auto at =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.name == name; });
  return at == keys_.end() ? nullptr : &*at;
}

Config::Key& Config::Find(const std::string& name, const std::string& origin) {
  if (const Key* key = FindOrNull(name)) return const_cast<Key&>(*key);
  std::vector<std::string> names;
  for (const Key& key : keys_) names.push_back(key.name);
  // A right key in the wrong section, or without one, is the likeliest slip.
  const std::string tail = "." + name.substr(name.find('.') + 1);
  for (const auto& candidate : names) {
    if (candidate.ends_with(tail)) {
      throw UsageError("unknown key {} (from {}); did you mean {}?", Printable(name),
                       Printable(origin), candidate);
    }
  }
  const std::string nearest = Nearest(name, names);
  throw UsageError(
      "unknown key {} (from {}); {}", Printable(name), Printable(origin),
      nearest.empty() ? "`kindred config show` lists the keys" : "did you mean " + nearest + "?");
}

void Config::Apply(const std::string& name, std::string_view value, const std::string& origin) {
  Key& key = Find(name, origin);
  std::visit(Store{key.name, value, key.allowed, origin}, key.field);
  key.origin = origin;
}

void Config::ApplyFile(const std::filesystem::path& path) {
  Bytes bytes;
  try {
    bytes = ReadFile(path, kConfigLimit);
  } catch (const Error& error) {
    throw UsageError("{}", error.what());  // a configuration is the command line's business
  }
  ApplyText(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
            path.string());
}

void Config::ApplyText(std::string_view text, const std::string& origin) {
  toml::table root;
  if (HasTooManyDots(text)) {
    throw UsageError("{}: more than {} dots; no configuration has so many", Printable(origin),
                     kMostDots);
  }
  try {
    root = toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw UsageError("{}:{}:{}: {}", Printable(origin), error.source().begin.line,
                     error.source().begin.column, Printable(error.description()));
  }
  for (const auto& [section, node] : root) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      throw UsageError("{}:{}: {} is not in a section; write it under [section]", Printable(origin),
                       node.source().begin.line, Printable(section.str()));
    }
    for (const auto& [key, value] : *table) {
      const std::string name = fmt::format("{}.{}", section.str(), key.str());
      const std::string line = fmt::format("{}:{}", origin, value.source().begin.line);
      const auto retired = retired_.find(name);
      if (retired == retired_.end()) {
        Find(name, line);
        Apply(name, TextOf(value, name, line), line);
      } else if (TextOf(value, name, line) != retired->second) {
        throw UsageError("{} (from {}) is no longer there, and only {} did nothing; leave it out",
                         name, Printable(line), retired->second);
      }
    }
  }
}

void Config::ApplyEnvironment(const char* const* environment) {
  constexpr std::string_view kPrefix = "KINDRED_";
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const auto equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    const std::string variable(entry.substr(0, equals));
    std::string name = variable.substr(kPrefix.size());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (const auto first = name.find('_'); first != std::string::npos) name[first] = '.';
    Apply(name, entry.substr(equals + 1), variable);
  }
}

void Config::ApplyAssignment(std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw UsageError("--set {}: must be section.key=value", Printable(assignment));
  }
  Apply(std::string(assignment.substr(0, equals)), assignment.substr(equals + 1), "--set");
}

const std::string& Config::OriginOf(const std::string& name) const {
  const Key* key = FindOrNull(name);
  Check(key != nullptr, "no such key: " + name);
  return key->origin;
}

std::vector<std::string> Config::ResultKeys(const std::vector<std::string>& without) const {
  std::vector<std::string> keys;
  for (const Key& key : keys_) {
    if (!key.allowed.changes_result) continue;
    if (std::find(without.begin(), without.end(), SectionOf(key.name)) != without.end()) continue;
    keys.push_back(fmt::format("{} = {}", key.name, std::visit(Write{}, key.field)));
  }
  return keys;
}

std::vector<std::string> Config::ForClients() const {
  std::vector<std::string> settings;
  for (const Key& key : keys_) {
    if (!key.for_clients) continue;
    settings.push_back(fmt::format("{} = {}", key.name, std::visit(Write{}, key.field)));
  }
  return settings;
}

std::optional<Config::Excess> Config::BeyondLimits(const std::set<std::string>& names) const {
  for (const Key& key : keys_) {
    if (!names.contains(key.name)) continue;
    if (!std::holds_alternative<int*>(key.field)) continue;
    const std::string bound =
        key.allowed.client_limit.empty() ? "client.max_number" : key.allowed.client_limit;
    const Key* limit = FindOrNull(bound);
    Check(limit != nullptr, "no such limit: " + bound);
    const int value = *std::get<int*>(key.field), most = *std::get<int*>(limit->field);
    if (value > most) {
      return Excess{key.name, std::to_string(value), limit->name, std::to_string(most), false};
    }
    if (key.allowed.client_least.empty()) continue;
    limit = FindOrNull(key.allowed.client_least);
    Check(limit != nullptr, "no such limit: " + key.allowed.client_least);
    const int least = *std::get<int*>(limit->field);
    if (value < least) {
      return Excess{key.name, std::to_string(value), limit->name, std::to_string(least), true};
    }
  }
  return std::nullopt;
}

std::string Config::JsonText(bool with_paths) const {
  Json root;
  for (const Key& key : keys_) {
    const std::string section = SectionOf(key.name);
    const bool left_out = key.allowed.is_path && !with_paths;
    root[section][key.name.substr(section.size() + 1)] =
        left_out ? Json() : Json::parse(std::visit(Write{}, key.field));
  }
  return root.dump();
}

std::string Config::ToJson() const { return JsonText(true); }

std::string Config::ToJsonWithoutPaths() const { return JsonText(false); }

std::optional<std::string> TomlToJson(std::string_view text) {
  if (HasTooManyDots(text)) return std::nullopt;
  try {
    std::ostringstream json;
    json << toml::json_formatter{toml::parse(text)};
    return json.str();
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

std::string Config::ToToml() const {
  std::string text, section;
  for (const Key& key : keys_) {
    if (SectionOf(key.name) != section) {
      section = SectionOf(key.name);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    const std::string line =
        fmt::format("{} = {}", key.name.substr(section.size() + 1), std::visit(Write{}, key.field));
    text += fmt::format("{:<30} # {}{}\n", line, key.meaning,
                        key.origin == "default" ? "" : " (" + Printable(key.origin) + ")");
  }
  return text;
}

}  // namespace kindred
