#include "command/stop.h"

#include <csignal>

namespace kindred {
namespace {

std::atomic<bool> stop_requested = false;

void OnSignal(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& StopOnSignals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, OnSignal) == SIG_IGN) std::signal(signal, SIG_IGN);  // as it was
  }
  return stop_requested;
}

}  // namespace kindred
