#include "base/error.h"
#include "cli/command.h"
#include "fetch/sources.h"

namespace kindred {
namespace {

struct GetFlags {
  std::string name;
  std::string from;
  std::string out;
  bool force = false;
};

CommandResult Get(const GetFlags& flags) {
  DataOptions options;
  options.name = flags.name;
  options.path = flags.out;
  const GetResult got = GetDataset(FindPublished(flags.name), flags.from, DataPath(options),
                                   flags.force || flags.out.empty());
  CommandResult result;
  result.text = got.source.empty()
                    ? fmt::format("{}: already in {}, {} files verified\n", flags.name,
                                  got.folder.string(), got.files.size())
                    : fmt::format("{}: {} files from {}, verified, in {}\n", flags.name,
                                  got.files.size(), got.source, got.folder.string());
  result.json = {{"dataset", flags.name},
                 {"path", got.folder.string()},
                 {"source", got.source.empty() ? "here already" : got.source},
                 {"files", got.files}};
  return result;
}

}  // namespace

void AddDataGet(CLI::App& data, Program& program) {
  auto flags = std::make_shared<GetFlags>();
  CLI::App* get = AddCommand(data, program, "get", "Fetch a dataset; its files are verified",
                             [flags] { return Get(*flags); });
  get->add_option("dataset", flags->name, "one of `kindred data list`")->required();
  get->add_option("--from", flags->from,
                  "official, debian, npm, a mirror's address or a folder; default: each in turn");
  get->add_option("--out", flags->out, "folder; default: the cache, where data.path looks");
  get->add_flag("--force", flags->force, "replace files in --out that are not the published ones");
}

}  // namespace kindred
