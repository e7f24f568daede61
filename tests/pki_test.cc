// `kindred pki` as a user types it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "identity/kit.h"
#include "tests/folders.h"
#include "tests/program.h"

namespace kindred {
namespace {

TEST(PkiCommand, EnrolsListsRenewsAndRevokes) {
  const auto folder = TestFolder();
  const Ran init = Kindred(folder, "pki init --out pki --days 100");
  ASSERT_EQ(init.code, 0) << init.err;
  EXPECT_NE(init.out.find("kindred pki issue NAME --pki pki"), std::string::npos) << init.out;
  EXPECT_EQ(Kindred(folder, "pki list --pki pki").out, "nobody is enrolled\n");
  const std::string issue = "pki issue --pki pki --server 10.0.0.5:7447 ";
  ASSERT_EQ(Kindred(folder, issue + "ward-7 --out a").code, 0);
  const Ran second = Kindred(folder, issue + "robot --out b --days 5 --json");
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(nlohmann::json::parse(second.out)["place"], 1);
  EXPECT_EQ(ReadKit(folder.path() / "a").name, "ward-7");
  ASSERT_EQ(Kindred(folder, issue + "ward-7 --out c --renew").code, 0);
  ASSERT_EQ(Kindred(folder, "pki revoke robot --pki pki").code, 0);
  const Ran again = Kindred(folder, "pki revoke robot --pki pki");
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, "robot: was revoked already\n");

  const Ran table = Kindred(folder, "pki list --pki pki");
  EXPECT_EQ(table.out.substr(0, table.out.find('\n')).substr(0, 11), "place  name") << table.out;
  const auto clients = nlohmann::json::parse(Kindred(folder, "pki list --pki pki --json").out);
  ASSERT_EQ(clients["clients"].size(), 2u);
  EXPECT_EQ(clients["clients"][0]["name"], "ward-7");
  EXPECT_EQ(clients["clients"][0]["state"], "valid");
  EXPECT_EQ(clients["clients"][1]["state"], "revoked");
  for (const auto& client : clients["clients"]) {
    EXPECT_NE(table.out.find(client["serial"].get<std::string>()), std::string::npos);
  }
}

TEST(PkiCommand, RefusesInOneLine) {
  const auto folder = TestFolder();
  ASSERT_EQ(Kindred(folder, "pki init --out pki").code, 0);
  ExpectFailure(Kindred(folder, "pki init --out pki"), 5, "is there already");
  ExpectFailure(Kindred(folder, "pki init --out p2 --days 0"), 2, "pki init --help");
  const std::string issue = "pki issue --pki pki --server localhost:7447 --out kit ";
  ExpectFailure(Kindred(folder, issue + "../a"), 2, "not a name");
  ExpectFailure(Kindred(folder, issue + "''"), 2, "not a name");
  ExpectFailure(Kindred(folder, issue + "--renew a"), 2, "leave out --renew");
  ExpectFailure(Kindred(folder, "pki issue a --pki pki --server here --out kit"), 2, "HOST:PORT");
  ASSERT_EQ(Kindred(folder, issue + "a").code, 0);
  ExpectFailure(Kindred(folder, "pki issue a --pki pki --server localhost:1 --out k2"), 2,
                "--renew");
  ExpectFailure(Kindred(folder, issue + "b"), 5, "is there already");
  ExpectFailure(Kindred(folder, "pki revoke b --pki pki"), 2, "not enrolled");
  ExpectFailure(Kindred(folder, "pki list --pki kit"), 3, "kindred pki init");
  WriteFileAtomically(folder.path() / "pki/enrolled.json", std::string_view("{"));
  ExpectFailure(Kindred(folder, "pki list --pki pki"), 3, "damaged");
}

TEST(PkiCommand, PrintsNoKey) {
  const auto folder = TestFolder();
  std::string printed;
  for (const char* command :
       {"pki init --out pki", "pki issue a --pki pki --server localhost:7447 --out kit --json",
        "pki list --pki pki", "pki revoke a --pki pki"}) {
    const Ran ran = Kindred(folder, command);
    printed += ran.out + ran.err;
  }
  EXPECT_EQ(printed.find("PRIVATE KEY"), std::string::npos);
  for (const char* path : {"pki/ca.key", "pki/server.key", "kit/client.key"}) {
    const Bytes bytes = ReadFile(folder.path() / path, 1 << 16);
    const std::string key(bytes.begin(), bytes.end());
    ASSERT_GT(key.size(), 100u);
    EXPECT_EQ(printed.find(key.substr(60, 30)), std::string::npos);
    for (const auto& each : FilesBelow(folder.path())) {
      if (each == path || !std::filesystem::is_regular_file(folder.path() / each)) continue;
      const Bytes other = ReadFile(folder.path() / each, 1 << 20);
      EXPECT_EQ(std::string(other.begin(), other.end()).find(key.substr(60, 30)), std::string::npos)
          << each;
    }
  }
}

}  // namespace
}  // namespace kindred
