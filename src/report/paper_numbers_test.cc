#include "report/paper_numbers.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(PaperNumber, IsThePapers) {
  EXPECT_EQ(PaperNumber({"linear", "cifar10", "noniid1", "linear", "1", "ccl"}), 79.07);
  EXPECT_EQ(PaperNumber({"semi", "cifar100", "noniid1", "semi", "0.01", "fedca"}), 8.07);
  EXPECT_EQ(PaperNumber({"finetune", "fashion-mnist", "iid", "finetune", "0.1", "ccl"}), 92.15);
  EXPECT_EQ(PaperNumber({"ablation", "cifar10", "noniid1", "semi", "0.01", "cl_ff"}), 66.12);
  EXPECT_EQ(PaperNumber({"linear", "cifar10", "noniid1", "linear", "1", "moco"}), std::nullopt);
  EXPECT_EQ(PaperNumber({"linear", "cifar10", "noniid1", "linear", "1", "byol"}), std::nullopt);
}

}  // namespace
}  // namespace kindred
