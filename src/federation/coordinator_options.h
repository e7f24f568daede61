// [server]: how a coordinator over a network behaves.
#pragma once

#include "base/config.h"
#include "federation/accept_loop.h"

namespace kindred {

// Rounds over a network.
struct CoordinatorOptions {
  int min_clients = 2;        // valid updates that a round needs
  double deadline = 3600;     // seconds that a round waits for the slow
  double patience = 600;      // seconds that the first round waits for those who are enrolled
  double over_selection = 0;  // how many more clients are asked than are wanted, a share of them
  int strikes = 3;            // refused updates after which a client is out of the run
  int upload_memory = 256;    // MB of updates under way at a time; the others wait
  int memory = 0;             // MB that the coordinator may come to need; 0: all there is
  int max_images = 1 << 22;   // |D_c| at most
  double poll = 20;           // seconds after which a client is told to ask again
  double linger = 60;         // seconds to hand out the trained model, for clients that are cut off
  bool half = false;          // weights and features as 16-bit floats: half the bytes
  bool monitor = false;       // kNN on the configured dataset, which the coordinator must have
};

void Bind(Config& config, CoordinatorOptions& options);

// What one address, one client, one connection and one call may take.
struct WireLimits {
  AcceptLimits connections;
  int per_client = 4;       // connections of one client
  double idle = 300;        // seconds that a connection without a call stays open
  double age = 3600;        // seconds after which a connection has to be made anew
  int streams = 16;         // calls under way on one connection
  double handshake = 5;     // seconds
  double min_rate = 2048;   // bytes per second that a transfer must make,
  double rate_window = 30;  // measured over so many seconds
};

void Bind(Config& config, WireLimits& limits);

}  // namespace kindred
