#include "report/page.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(FrozenPage, KeepsDataData) {
  const Json data = {{"name", "</script><img src=x onerror=alert(1)>&amp;\u2028"}};
  const std::string page = FrozenPage(data);
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  // What the browser parses is the data.
  const std::string open = "id=\"kindred-data\">";
  const size_t begin = page.find(open) + open.size(), end = page.find("</script>", begin);
  EXPECT_EQ(Json::parse(page.substr(begin, end - begin)), data);
  EXPECT_EQ(page.size() > LivePage().size(), true);
}

TEST(LivePage, AllowsItsOwnScriptAlone) {
  const std::string page(LivePage());
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(page.find("<script src"), std::string::npos);  // all of it is inside
}

}  // namespace
}  // namespace kindred
