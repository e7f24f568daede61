// `kindred pki` as a user types it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "identity/kit.h"
#include "tests/folders.h"
#include "tests/process.h"
#include "tests/program.h"

namespace kindred {
namespace {

TEST(PkiCommand, EnrolsListsRenewsAndRevokes) {
  const auto folder = TestFolder();
  const Ran init = Kindred(folder, "pki init --out pki --days 100");
  ASSERT_EQ(init.code, 0) << init.err;
  EXPECT_NE(init.out.find("kindred pki issue NAME --pki pki"), std::string::npos) << init.out;
  const std::string first = Kindred(folder, "pki list --pki pki").out;
  EXPECT_NE(first.find("nobody is enrolled\n"), std::string::npos) << first;
  EXPECT_NE(first.find("the coordinator"), std::string::npos) << first;
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

  EXPECT_EQ(clients["coordinator"]["state"], "valid");
  const Ran renewed = Kindred(folder, "pki renew-server --pki pki --days 30 --json");
  ASSERT_EQ(renewed.code, 0) << renewed.err;
  const auto now = nlohmann::json::parse(Kindred(folder, "pki list --pki pki --json").out);
  EXPECT_NE(now["coordinator"]["serial"], clients["coordinator"]["serial"]);
  EXPECT_EQ(now["coordinator"]["expires"], nlohmann::json::parse(renewed.out)["server_expires"]);
  EXPECT_EQ(now["clients"], clients["clients"]);
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
  ExpectFailure(Kindred(folder, "pki renew-server --pki kit"), 3, "kindred pki init");
  ExpectFailure(Kindred(folder, "pki revoke a --pki pki/coordinator"), 3, "authority's key");
  WriteFileAtomically(folder.path() / "pki/coordinator/enrolled.json", std::string_view("{"));
  ExpectFailure(Kindred(folder, "pki list --pki pki"), 3, "damaged");
}

TEST(PkiCommand, PrintsNoKey) {
  const auto folder = TestFolder();
  std::string printed;
  for (const char* command :
       {"pki init --out pki", "pki issue a --pki pki --server localhost:7447 --out kit --json",
        "pki list --pki pki", "pki revoke a --pki pki", "pki renew-server --pki pki"}) {
    const Ran ran = Kindred(folder, command);
    printed += ran.out + ran.err;
  }
  EXPECT_EQ(printed.find("PRIVATE KEY"), std::string::npos);
  for (const char* path :
       {"pki/authority/ca.key", "pki/coordinator/server.key", "kit/client.key"}) {
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

// The authority is on a machine of its own, the coordinator has a copy of its part, and what the
// authority changes reaches it with the next copy.
struct TwoMachines {
  TemporaryFolder folder = TestFolder();

  TwoMachines() {
    std::filesystem::create_directories(folder.path() / "there");
    EXPECT_EQ(Kindred(folder, "pki init --out pki --server-days 20").code, 0);
    for (const char* name : {"a", "b"}) EXPECT_EQ(Issue(name).code, 0);
    Copy();
  }
  Ran Issue(const std::string& name) const {
    return Kindred(folder, "pki issue --pki pki --server 127.0.0.1:1 " + name + " --out " + name);
  }
  void Copy() const {
    std::filesystem::copy(folder.path() / "pki/coordinator", folder.path() / "there/coordinator",
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
  }
  std::unique_ptr<Process> Serve() const {
    return std::make_unique<Process>(
        folder.path(),
        std::string("serve --resume ") + kTiny + " --pki there --listen 127.0.0.1:0 --out run",
        "serve.log");
  }
  // Asks the coordinator as `kindred join` does.
  Ran Greet(const std::string& name, const std::string& address) const {
    return Kindred(folder, std::string("doctor ") + kTiny + " --kit " + name +
                               " --set client.server=" + address);
  }

  static constexpr const char* kTiny = "--config '" KINDRED_SOURCE_DIR "/configs/tiny.toml'";
};

TEST(PkiCommand, ACoordinatorServesWithoutTheAuthorityAndSeesCopiedLists) {
  const TwoMachines made;
  const Ran examined = Kindred(made.folder, std::string("doctor ") + TwoMachines::kTiny +
                                                " --pki there --listen 127.0.0.1:0");
  EXPECT_EQ(examined.code, 0) << examined.out << examined.err;
  EXPECT_EQ(examined.out.find("authority's key"), std::string::npos) << examined.out;
  EXPECT_NE(examined.out.find("pki renew-server"), std::string::npos) << examined.out;

  const auto server = made.Serve();
  const std::string address = server->After("listening on ");
  EXPECT_NE(server->Log().find("expires in 19 days"), std::string::npos) << server->Log();
  EXPECT_EQ(made.Greet("a", address).code, 0);
  ASSERT_EQ(made.Issue("late").code, 0);
  const Ran unknown = made.Greet("late", address);
  EXPECT_EQ(unknown.code, 4) << unknown.out;
  EXPECT_NE(unknown.out.find("identity"), std::string::npos) << unknown.out;
  ASSERT_EQ(Kindred(made.folder, "pki revoke a --pki pki").code, 0);
  EXPECT_EQ(made.Greet("a", address).code, 0) << "the copy is the old one";
  made.Copy();
  const Ran late = made.Greet("late", address);
  EXPECT_EQ(late.code, 0) << late.out << late.err;
  const Ran revoked = made.Greet("a", address);
  EXPECT_EQ(revoked.code, 4) << revoked.out;
  EXPECT_NE(revoked.out.find("revoked"), std::string::npos) << revoked.out;
  ExpectFailure(Kindred(made.folder, "pki revoke b --pki there"), 3, "authority's key is not here");
}

TEST(PkiCommand, KitsReachACoordinatorWithARenewedCertificate) {
  const TwoMachines made;
  auto server = made.Serve();
  server->After("listening on ");
  ASSERT_EQ(Kindred(made.folder, "pki renew-server --pki pki").code, 0);
  made.Copy();
  server->Kill();
  std::filesystem::remove(made.folder.path() / "serve.log");
  server = made.Serve();
  const std::string address = server->After("listening on ");
  const Ran taken = made.Greet("a", address);
  EXPECT_EQ(taken.code, 0) << taken.out << taken.err;
  EXPECT_EQ(server->Log().find("expires in"), std::string::npos) << server->Log();
}

}  // namespace
}  // namespace kindred
