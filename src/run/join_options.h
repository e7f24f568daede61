// [client]: how `kindred join` takes part, and what it lets a coordinator ask for.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

struct JoinOptions {
  std::string server;         // HOST:PORT
  std::string name;           // as the certificate has it; who the client is on plain text
  std::string share;          // "i/C": client i's share of the configured partition
  std::string key = "drawn";  // drawn: a secret of its own; seeded: a simulation's
  double patience = 600;      // seconds that the coordinator may be out of reach
  int max_rounds = 100000;    // hard limits: whatever the coordinator asks for
  int max_epochs = 100;
  int max_batch = 4096;
  int max_width = 256;
  int max_dim = 2048;
  int max_side = 1024;       // pixels of an image's side
  int max_number = 1 << 16;  // in a method's own settings: bank, prototypes, ...
  int max_download = 2048;   // MB of a model or a bank
  int min_mix = 4;           // images in an encoding at least
  int min_batch = 8;         // images per step at least: fewer show through a model's update
  int min_images = 8;        // of this client, or it takes no part: the same
  bool labels = false;       // whether methods that learn from labels get this client's
};

void Bind(Config& config, JoinOptions& options);

}  // namespace kindred
