#include "identity/kit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>

#include "identity/pki.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// An authority in pki/ and two clients' kits in a/ and b/.
struct SmallFederation {
  TemporaryFolder folder = TestFolder();
  std::filesystem::path pki = folder.path() / "pki", a = folder.path() / "a",
                        b = folder.path() / "b";

  SmallFederation() {
    InitPki(pki);
    IssueKit(pki, a, {.name = "a", .server = "localhost:1"});
    IssueKit(pki, b, {.name = "b", .server = "localhost:1"});
  }
};

void CopyOver(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
}

TEST(Kit, HoldsTheClientsNameAndEnd) {
  const SmallFederation made;
  const Kit kit = ReadKit(made.a);
  EXPECT_EQ(kit.name, "a");
  EXPECT_GT(kit.expires, std::time(nullptr));
  EXPECT_TRUE(KeyFits({kit.key, kit.certificate}));
  EXPECT_TRUE(Verifies(kit.certificate, kit.ca, CertificateUse::kClient, std::time(nullptr)));
  const ServerKit server = ReadServerKit(made.pki);
  EXPECT_EQ(server.ca, kit.ca);
  EXPECT_TRUE(KeyFits({server.key, server.certificate}));
}

TEST(Kit, AnExpiredOneIsReadAndSaysWhen) {
  const SmallFederation made;
  IssueKit(made.pki, made.folder.path() / "c", {.name = "c", .server = "localhost:1", .days = -5});
  EXPECT_LT(ReadKit(made.folder.path() / "c").expires, std::time(nullptr));
}

TEST(Kit, AKeyThatOthersMayUseIsRefused) {
  const SmallFederation made;
  for (const mode_t mode : {0640u, 0604u, 0620u, 0601u, 0700u}) {
    const auto key = made.a / "client.key", server = made.pki / "coordinator" / "server.key",
               authority = made.pki / "authority" / "ca.key";
    for (const auto& path : {key, server, authority}) ::chmod(path.c_str(), mode);
    ExpectError(ExitCode::kNetwork, "chmod 600 " + key.string(), [&] { ReadKit(made.a); });
    ExpectError(ExitCode::kNetwork, "chmod 600 " + server.string(),
                [&] { ReadServerKit(made.pki); });
    ExpectError(ExitCode::kNetwork, "chmod 600 " + authority.string(), [&] {
      IssueKit(made.pki, made.folder.path() / "c", {.name = "c", .server = "localhost:1"});
    });
    for (const auto& path : {key, server, authority}) ::chmod(path.c_str(), 0400);
    EXPECT_EQ(ReadKit(made.a).name, "a");
    ReadServerKit(made.pki);
  }
}

TEST(Kit, FilesThatDoNotBelongTogetherAreRefused) {
  const SmallFederation made;
  CopyOver(made.b / "client.key", made.a / "client.key");
  ExpectError(ExitCode::kNetwork, "not the key of", [&] { ReadKit(made.a); });
  CopyOver(made.b / "client.crt", made.a / "client.crt");
  EXPECT_EQ(ReadKit(made.a).name, "b");  // the certificate says who it is, not the folder
  InitPki(made.folder.path() / "other");
  CopyOver(made.folder.path() / "other" / "authority" / "ca.crt", made.a / "ca.crt");
  ExpectError(ExitCode::kNetwork, "does not vouch", [&] { ReadKit(made.a); });
  // A client's certificate in the coordinator's place.
  CopyOver(made.b / "client.key", made.pki / "coordinator" / "server.key");
  ExpectError(ExitCode::kNetwork, "pki renew-server", [&] { ReadServerKit(made.pki); });
  CopyOver(made.b / "client.crt", made.pki / "coordinator" / "server.crt");
  ExpectError(ExitCode::kNetwork, "the coordinator's", [&] { ReadServerKit(made.pki); });
}

TEST(Kit, MissingAndDamagedFilesAreNamedAndNoKeyIsShown) {
  const SmallFederation made;
  const std::string secret = "MIGHAgEAMBMGByqGSM49";
  const auto key = made.a / "client.key", certificate = made.a / "client.crt";
  for (const std::string text : {"", "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n"}) {
    WriteFileAtomically(key, std::string_view(text));
    ::chmod(key.c_str(), 0600);
    try {
      ReadKit(made.a);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("client.key"), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find(secret), std::string::npos);
    }
  }
  WriteFileAtomically(certificate, std::string_view("no certificate"));
  ExpectError(ExitCode::kNetwork, "client.crt", [&] { ReadKit(made.a); });
  std::filesystem::remove(certificate);
  ExpectError(ExitCode::kData, "client.crt", [&] { ReadKit(made.a); });
  WriteFileAtomically(made.b / "client.crt", std::string_view(std::string(1 << 20, 'x')));
  ExpectError(ExitCode::kData, "more than", [&] { ReadKit(made.b); });
  ExpectError(ExitCode::kData, "server.key", [&] { ReadServerKit(made.b); });
}

}  // namespace
}  // namespace kindred
