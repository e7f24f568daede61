#include "run/join_options.h"

namespace kindred {

void Bind(Config& config, JoinOptions& options) {
  const auto limit = [](double least, double most) {
    return Allowed{.least = least, .most = most, .changes_result = false};
  };
  const Allowed text = {.changes_result = false};
  config.Bind("client.server", &options.server, "join: HOST:PORT of the coordinator", text);
  config.Bind("client.name", &options.name, "join: who this is, as the certificate says", text);
  config.Bind("client.share", &options.share,
              "join: i/C, client i's share of the configured partition; empty: all images", text);
  config.Bind("client.key", &options.key,
              "join: drawn: a secret of its own hides what is shared; seeded: a simulation's",
              {.choices = {"drawn", "seeded"}, .changes_result = false});
  config.Bind("client.patience", &options.patience,
              "join: seconds that the coordinator may be out of reach", limit(1, 1e7));
  config.Bind("client.max_rounds", &options.max_rounds, "join: rounds it lets itself be asked for",
              limit(1, 1 << 30));
  config.Bind("client.max_epochs", &options.max_epochs, "join: likewise, epochs of a round",
              limit(1, 1 << 20));
  config.Bind("client.max_batch", &options.max_batch, "join: likewise, images of a batch",
              limit(1, 1 << 20));
  config.Bind("client.max_width", &options.max_width, "join: likewise, model.width",
              limit(1, 1 << 12));
  config.Bind("client.max_dim", &options.max_dim, "join: likewise, model.dim", limit(1, 1 << 16));
  config.Bind("client.max_side", &options.max_side, "join: likewise, pixels of an image's side",
              limit(1, 1 << 14));
  config.Bind("client.max_number", &options.max_number,
              "join: likewise, numbers in a method's own settings", limit(1, 1 << 30));
  config.Bind("client.labels", &options.labels,
              "join: whether a method that learns from labels gets this client's", text);
  config.Bind("client.max_download", &options.max_download,
              "join: likewise, MB of a model or of others' features", limit(1, 1 << 20));
  config.Bind("client.min_mix", &options.min_mix, "join: images in an encoding at least",
              limit(2, 64));
}

}  // namespace kindred
