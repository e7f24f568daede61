#include "partition/by_folder.h"

#include "base/error.h"

namespace kindred {

Partition DealByFolder(const PartitionInput& input) {
  if (input.folders.empty()) {
    throw UsageError(
        "partition by_folder: the images are not in folders of their owners; set data.name=folder "
        "and data.path=PATH, with PATH/OWNER/...");
  }
  const int folders = static_cast<int>(input.folder_names.size());
  const int clients = input.options.clients;
  if (clients > 0 && clients != folders) {
    throw UsageError("partition.clients = {}, but there are {} folders; leave it 0", clients,
                     folders);
  }
  std::vector<std::vector<int>> dealt(static_cast<size_t>(folders));
  for (int i = 0; i < input.images; ++i) {
    dealt[static_cast<size_t>(input.folders[static_cast<size_t>(i)])].push_back(i);
  }
  return {.clients = std::move(dealt),
          .names = {input.folder_names.begin(), input.folder_names.end()}};
}

}  // namespace kindred
