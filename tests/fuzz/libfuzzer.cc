// What libFuzzer calls.
#include <google/protobuf/stubs/logging.h>
#include <spdlog/spdlog.h>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  spdlog::set_level(spdlog::level::off);  // a warning per damaged file
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kindred::Fuzz({data, size});
  return 0;
}
