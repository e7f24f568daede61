#include "command/learning.h"

#include "build.h"

extern "C" const kindred::Learning* KindredLearning() {
  static constexpr kindred::Learning kTable = {.build = KINDRED_BUILD,
                                               .train = kindred::Train,
                                               .serve = kindred::Serve,
                                               .join = kindred::JoinRun,
                                               .eval = kindred::Eval,
                                               .embed = kindred::Embed,
                                               .export_encoder = kindred::Export,
                                               .reproduce = kindred::Reproduce,
                                               .bench = kindred::Bench,
                                               .doctor = kindred::Examine};
  return &kTable;
}
