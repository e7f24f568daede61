#include "base/error.h"
#include "base/file.h"
#include "cli/command.h"
#include "partition/plot.h"

namespace kindred {
namespace {

struct PartitionFlags {
  std::string out;
  bool force = false;
};

CommandResult ShowPartition(const ConfigFlags& config, const PartitionFlags& flags) {
  if (!flags.out.empty()) RefuseToOverwrite(flags.out, flags.force);
  const Resolved resolved = Resolve(config);
  const auto& options = resolved.experiment->partition;
  const Dataset dataset = LoadDataset(resolved.experiment->data);
  const Partition partition = MakePartition(dataset, options);
  const std::string hash = PartitionHash(partition);
  const std::string title = fmt::format("{}, {}, {} clients, seed {}", dataset.name, options.scheme,
                                        partition.Clients(), options.seed);

  CommandResult result;
  result.text = fmt::format("{}\n\n{}\nhash {}\n", title, PartitionTable(partition, dataset), hash);
  result.json = {{"dataset", dataset.name},
                 {"scheme", options.scheme},
                 {"seed", options.seed},
                 {"partition_hash", hash},
                 {"label_names", dataset.label_names}};
  const auto counts = ClassCounts(partition, dataset.train, dataset.Classes());
  for (size_t c = 0; c < counts.size(); ++c) {
    result.json["clients"].push_back({{"name", partition.names[c]},
                                      {"images", partition.clients[c].size()},
                                      {"per_class", counts[c]}});
  }
  if (!flags.out.empty()) {
    WriteFileAtomically(flags.out, PartitionSvg(partition, dataset, title));
    result.text += fmt::format("picture {}\n", flags.out);
    result.json["picture"] = flags.out;
  }
  return result;
}

}  // namespace

void AddDataPartition(CLI::App& data, Program& program) {
  auto config = std::make_shared<ConfigFlags>();
  auto flags = std::make_shared<PartitionFlags>();
  CLI::App* command =
      AddCommand(data, program, "partition", "Who owns which image: a table and a picture",
                 [config, flags] { return ShowPartition(*config, *flags); });
  AddConfigFlags(*command, *config);
  AddDatasetWords(*command, *config);
  command->add_option("--out", flags->out,
                      "write the picture (clients x classes) to this SVG file");
  command->add_flag("--force", flags->force, "replace a file that is there");
}

}  // namespace kindred
