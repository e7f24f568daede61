#include "method/fedca_options.h"

#include "data/dataset.h"

namespace kindred {

void Bind(Config& config, FedcaOptions& options) {
  std::vector<std::string> datasets;
  for (const auto& kind : DatasetKinds()) datasets.emplace_back(kind.name);
  config.Bind("fedca.tau", &options.tau, "temperature of the contrastive loss",
              {.least = 1e-3, .most = 100});
  config.Bind("fedca.dictionary", &options.dictionary, "features that a client shares",
              {.least = 1, .most = 1 << 20});
  config.Bind("fedca.alignment", &options.alignment,
              "weight of alignment to the base model; 0: none", {.least = 0, .most = 1000});
  config.Bind("fedca.public_data", &options.public_data,
              "what the base model learns from: kindred list datasets", {.choices = datasets});
  config.Bind("fedca.public_path", &options.public_path,
              "where that is; empty: where kindred data get puts it");
  config.Bind("fedca.public_images", &options.public_images, "how many of its images",
              {.least = 2, .most = 1 << 24});
  config.Bind("fedca.base_epochs", &options.base_epochs, "the base model's epochs on them",
              {.least = 1, .most = 1e4});
  config.Bind("fedca.base_lr", &options.base_lr, "its learning rate, cosine to 0",
              {.least = 0, .most = 10});
}

}  // namespace kindred
