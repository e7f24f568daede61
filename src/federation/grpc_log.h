// gRPC's own lines on stderr.
#pragma once

#include <cstdlib>

namespace kindred {

// Keeps gRPC from printing: what matters comes back as a status. A GRPC_VERBOSITY that is set
// stays. To be called before anything of gRPC is made.
inline void QuietGrpc() { ::setenv("GRPC_VERBOSITY", "NONE", 0); }

}  // namespace kindred
