#include "run/join_options.h"

namespace kindred {

void Bind(Config& config, JoinOptions& options) {
  const auto limit = [](double least, double most) {
    return Allowed{.least = least, .most = most, .changes_result = false};
  };
  const Allowed text = {.changes_result = false};
  config.Bind("client.server", &options.server, "join: HOST:PORT of the coordinator", text);
  config.Bind("client.name", &options.name, "join: name of this client, as in its certificate",
              text);
  config.Bind("client.share", &options.share,
              "join: i/C, the part of client i in the configured partition; empty: all "
              "images",
              text);
  config.Bind("client.key", &options.key,
              "join: secret behind what is shared: drawn here (drawn), or a simulation's "
              "(seeded)",
              {.choices = {"drawn", "seeded"}, .changes_result = false});
  config.Bind("client.patience", &options.patience,
              "join: seconds that the coordinator may be out of reach", limit(1, 1e7));
  config.Bind("client.max_rounds", &options.max_rounds,
              "join: refuse a coordinator that asks for more rounds", limit(1, 1 << 30));
  config.Bind("client.max_epochs", &options.max_epochs,
              "join: refuse a coordinator that asks for more epochs per round", limit(1, 1 << 20));
  config.Bind("client.max_batch", &options.max_batch, "join: refuse larger batches",
              limit(1, 1 << 20));
  config.Bind("client.max_width", &options.max_width, "join: refuse a larger model.width",
              limit(1, 1 << 12));
  config.Bind("client.max_dim", &options.max_dim, "join: refuse a larger model.dim",
              limit(1, 1 << 16));
  config.Bind("client.max_side", &options.max_side,
              "join: refuse images with a longer side, in pixels", limit(1, 1 << 14));
  config.Bind("client.max_number", &options.max_number,
              "join: refuse larger numbers in a method's settings", limit(1, 1 << 30));
  config.Bind("client.labels", &options.labels,
              "join: give this client's labels to methods that use them", text);
  config.Bind("client.max_download", &options.max_download,
              "join: refuse a model or remote features of more MB", limit(1, 1 << 20));
  config.Bind("client.min_mix", &options.min_mix, "join: refuse encodings of fewer images",
              limit(2, 64));
  config.Bind("client.min_batch", &options.min_batch,
              "join: refuse smaller batches, of which an update shows more", limit(1, 1 << 20));
  config.Bind("client.min_images", &options.min_images,
              "join: take no part with fewer images, of which an update shows more",
              limit(1, 1 << 20));
}

}  // namespace kindred
