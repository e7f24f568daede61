#include "method/fedca_options.h"

#include <fmt/format.h>

#include "data/dataset.h"

namespace kindred {

void Bind(Config& config, FedcaOptions& options) {
  std::vector<std::string> datasets;
  for (const auto& kind : DatasetKinds()) datasets.emplace_back(kind.name);
  config.BindForClients("fedca.tau", &options.tau, "temperature of the contrastive loss",
                        {.least = 1e-3, .most = 100});
  config.BindForClients("fedca.dictionary", &options.dictionary, "features that a client shares",
                        {.least = 1, .most = 1 << 20});
  config.BindForClients("fedca.alignment", &options.alignment,
                        "weight of alignment to the base model; 0: none",
                        {.least = 0, .most = 1000});
  config.BindForClients(
      "fedca.public_data", &options.public_data,
      "dataset that the base model learns from; `kindred list datasets` names them",
      {.choices = datasets});
  config.Bind("fedca.public_path", &options.public_path,
              "folder of its files; empty: where `kindred data get` puts them",
              {.changes_result = false, .is_path = true});
  config.BindForClients("fedca.public_images", &options.public_images,
                        "how many of its images the base model learns from",
                        {.least = 2, .most = 1 << 24});
  config.BindForClients("fedca.base_epochs", &options.base_epochs,
                        "epochs that the base model trains",
                        {.least = 1, .most = 1e4, .client_limit = "client.max_epochs"});
  config.BindForClients("fedca.base_lr", &options.base_lr,
                        "learning rate of the base model, cosine to 0", {.least = 0, .most = 10});
}

std::string NoteOf(const FedcaOptions& options) {
  const std::string note = "FedCA reimplemented from its description";
  if (options.alignment == 0) return note + ", without alignment";
  return fmt::format("{}; base model of at most {} public images of {}, alignment {}", note,
                     options.public_images, options.public_data, options.alignment);
}

}  // namespace kindred
