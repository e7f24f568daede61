#include "transport/server_options.h"

namespace kindred {

namespace {

// How and when, never what is computed.
Allowed Within(double least, double most) {
  return {.least = least, .most = most, .changes_result = false};
}

}  // namespace

void Bind(Config& config, CoordinatorOptions& options) {
  config.Bind("server.min_clients", &options.min_clients, "serve: valid updates that a round needs",
              Within(1, 1 << 20));
  config.Bind("server.deadline", &options.deadline,
              "serve: seconds that a round waits for the slow", Within(0.1, 1e7));
  config.Bind("server.patience", &options.patience,
              "serve: seconds that the first round waits for all who are enrolled", Within(0, 1e7));
  config.Bind("server.over_selection", &options.over_selection,
              "serve: how many more clients are asked than are wanted, a share of them",
              Within(0, 10));
  config.Bind("server.strikes", &options.strikes,
              "serve: refused updates after which a client is out of the run", Within(1, 1000));
  config.Bind("server.upload_memory", &options.upload_memory,
              "serve: MB of updates under way at a time; the others wait", Within(1, 1 << 20));
  config.Bind("server.memory", &options.memory,
              "serve: MB that it may come to need, or it does not start; 0: all there is",
              Within(0, 1 << 30));
  config.Bind("server.max_images", &options.max_images, "serve: images of one client at most",
              Within(1, 1 << 25));
  config.Bind("server.poll", &options.poll,
              "serve: seconds after which a waiting client is told to ask again", Within(0.1, 60));
  config.Bind("server.linger", &options.linger,
              "serve: seconds to hand out the trained model to clients that are cut off",
              Within(0, 1e7));
  config.Bind("server.monitor", &options.monitor,
              "serve: kNN on the configured dataset, which must be here",
              {.changes_result = false});
  config.Bind("server.half", &options.half,
              "serve: weights and features travel as 16-bit floats, half the bytes");
}

void Bind(Config& config, WireLimits& limits) {
  config.Bind("server.max_connections", &limits.connections.total, "serve: connections at a time",
              Within(1, 1 << 16));
  config.Bind("server.max_per_address", &limits.connections.per_address,
              "serve: of them, from one address", Within(1, 1 << 16));
  config.Bind("server.max_streams", &limits.streams, "serve: calls at a time on one connection",
              Within(1, 1 << 10));
  config.Bind("server.handshake", &limits.handshake, "serve: seconds that a handshake may take",
              Within(0.1, 600));
  config.Bind("server.min_rate", &limits.min_rate,
              "serve: bytes a second that a transfer must make, or it is cut", Within(0, 1e9));
  config.Bind("server.rate_window", &limits.rate_window,
              "serve: seconds over which that is measured", Within(0.1, 3600));
}

}  // namespace kindred
