#include "run/fit.h"

#include <gtest/gtest.h>

#include "tests/throws.h"

namespace kindred {
namespace {

MethodContext FitContext(const char* name, int splits) {
  return {.model = {.arch = "resnet10", .width = 4, .dim = 8, .bn_splits = splits},
          .method = {.name = name},
          .classes = 3,
          .batch = 8};
}

TEST(Fit, WarnsOfClientsWithOneImageWhereABatchNormNeedsTwo) {
  const Partition partition = {.clients = {{0, 1}, {2}, {3}}}, two = {.clients = {{0, 1}, {2, 3}}};
  const auto simclr = MakeMethod(FitContext("simclr", 1));
  EXPECT_TRUE(TooFewImagesWarning(*simclr, partition).value_or("").starts_with("2 of 3 clients"));
  EXPECT_FALSE(TooFewImagesWarning(*simclr, two));
  EXPECT_FALSE(TooFewImagesWarning(*MakeMethod(FitContext("rotation", 1)), partition));
  MethodContext ccl = FitContext("ccl", 2);
  EXPECT_TRUE(TooFewImagesWarning(*MakeMethod(ccl), partition));
  ccl.model.projector_norm = false;
  EXPECT_FALSE(TooFewImagesWarning(*MakeMethod(ccl), partition));
  ccl.model.projector_norm = true;
  ccl.batch = 1;
  ExpectError(ExitCode::kUsage, "train.batch = 1", [&] { MakeMethod(ccl); });
}

}  // namespace
}  // namespace kindred
