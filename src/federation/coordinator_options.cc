#include "federation/coordinator_options.h"

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
              "serve: seconds that a round waits for slow clients", Within(0.1, 1e7));
  config.Bind("server.patience", &options.patience,
              "serve: seconds that the first round waits for all who are enrolled", Within(0, 1e7));
  config.Bind("server.over_selection", &options.over_selection,
              "serve: share of clients asked beyond those wanted, in case some are slow",
              Within(0, 10));
  config.Bind("server.strikes", &options.strikes,
              "serve: refused updates after which a client is out of the run", Within(1, 1000));
  config.Bind("server.upload_memory", &options.upload_memory,
              "serve: MB of updates that arrive at the same time; others wait", Within(1, 1 << 20));
  config.Bind("server.memory", &options.memory,
              "serve: refuse to start when it may need more MB than this; 0: this machine's memory",
              Within(0, 1 << 30));
  config.Bind("server.max_images", &options.max_images, "serve: images that one client may have",
              Within(1, 1 << 25));
  config.Bind("server.poll", &options.poll,
              "serve: seconds after which a waiting client is told to ask again", Within(0.1, 60));
  config.Bind("server.linger", &options.linger,
              "serve: seconds to hand out the trained model to clients that are cut off",
              Within(0, 1e7));
  config.Bind("server.monitor", &options.monitor,
              "serve: measure kNN on the configured dataset, which must be here",
              {.changes_result = false});
  config.Bind("server.half", &options.half,
              "serve: send weights and features as 16-bit floats, half the bytes");
}

void Bind(Config& config, WireLimits& limits) {
  config.Bind("server.max_connections", &limits.connections.total,
              "serve: connections open at the same time", Within(1, 1 << 16));
  config.Bind("server.max_per_address", &limits.connections.per_address,
              "serve: connections from one address", Within(1, 1 << 16));
  config.Bind(
      "server.max_per_client", &limits.per_client,
      "serve: connections of one client; one whose link was cut counts for up to 40 s: higher "
      "where links break often",
      Within(1, 1 << 10));
  config.Bind("server.max_idle", &limits.idle,
              "serve: seconds that a connection without a call stays open", Within(1, 1e6));
  config.Bind("server.max_age", &limits.age,
              "serve: seconds after which a client must connect anew, with a certificate that is "
              "still valid; a transfer under way gets as much again",
              Within(1, 1e6));
  config.Bind("server.max_streams", &limits.streams,
              "serve: calls at the same time on one connection", Within(1, 1 << 10));
  config.Bind("server.handshake", &limits.handshake, "serve: seconds that a handshake may take",
              Within(0.1, 600));
  config.Bind("server.min_rate", &limits.min_rate,
              "serve: bytes per second that a transfer must make, or it is cut", Within(0, 1e9));
  config.Bind("server.rate_window", &limits.rate_window,
              "serve: seconds over which server.min_rate is measured", Within(0.1, 3600));
}

}  // namespace kindred
