#include "transport/refusal.h"

#include <gtest/gtest.h>

#include <set>

namespace kindred {
namespace {

TEST(RefusalKinds, HaveAWordOfTheirOwnThatLeadsBackToThem) {
  std::set<std::string> words;
  for (size_t i = 0; i < RefusalKinds().size(); ++i) {
    const RefusalKind& kind = RefusalKinds()[i];
    EXPECT_EQ(static_cast<size_t>(kind.reason), i);
    EXPECT_EQ(RefusalOf(kind.word), kind.reason);
    EXPECT_TRUE(words.insert(kind.word).second) << kind.word;
  }
  EXPECT_EQ(RefusalKinds().back().reason, Refusal::kFeatures) << "the enum's last has a line";
}

TEST(RefusalKinds, AWordOfAnotherProgramIsNone) {
  EXPECT_EQ(RefusalOf(""), std::nullopt);
  EXPECT_EQ(RefusalOf("value"), std::nullopt);
}

}  // namespace
}  // namespace kindred
