#include "export/npy.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace kindred {
namespace {

TEST(Npy, HasNumpysHeaderAndTheValues) {
  const Bytes bytes = SerializeNpy(torch::tensor({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_EQ(text.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  EXPECT_NE(text.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
            std::string::npos);
  const size_t header = 10 + bytes[8] + 256u * bytes[9];
  EXPECT_EQ(header % 64, 0u);
  EXPECT_EQ(bytes[header - 1], '\n');
  ASSERT_EQ(bytes.size(), header + 24);
  float last = 0;
  std::memcpy(&last, bytes.data() + header + 20, 4);
  EXPECT_EQ(last, 6);
}

}  // namespace
}  // namespace kindred
