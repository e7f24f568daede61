#include "identity/pki.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <ctime>
#include <set>
#include <thread>

#include "identity/certificate.h"
#include "identity/enrolments.h"
#include "identity/kit.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

constexpr int64_t kOneDay = 24 * 60 * 60;

unsigned ModeOf(const std::filesystem::path& path) {
  struct stat status;
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

std::string TextIn(const std::filesystem::path& path) {
  const Bytes bytes = ReadFile(path, 1 << 20);
  return {bytes.begin(), bytes.end()};
}

KitOptions KitOf(const std::string& name, int days = 365) {
  return {.name = name, .server = "localhost:7447", .days = days};
}

TEST(Pki, FoldersHoldWhatTheyShouldForTheirOwnerAlone) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki", kit = folder.path() / "new" / "kit";
  InitPki(pki);
  IssueKit(pki, kit, KitOf("ward-7"));
  EXPECT_EQ(FilesBelow(pki),
            (std::set<std::string>{"authority", "authority/ca.crt", "authority/ca.key",
                                   "coordinator", "coordinator/ca.crt", "coordinator/enrolled.json",
                                   "coordinator/server.crt", "coordinator/server.key"}));
  EXPECT_EQ(FilesBelow(kit),
            (std::set<std::string>{"ca.crt", "client.crt", "client.key", "client.toml"}));
  for (const auto& each : {pki, pki / "authority", pki / "coordinator", kit}) {
    EXPECT_EQ(ModeOf(each), 0700u) << each;
  }
  for (const auto& key :
       {pki / "authority/ca.key", pki / "coordinator/server.key", kit / "client.key"}) {
    EXPECT_EQ(ModeOf(key), 0600u) << key;
  }
  EXPECT_EQ(TextIn(kit / "client.toml"),
            "[client]\nserver = \"localhost:7447\"\nname = \"ward-7\"\n");
  EXPECT_EQ(TextIn(kit / "ca.crt"), TextIn(pki / "authority/ca.crt"));
  EXPECT_EQ(TextIn(kit / "ca.crt"), TextIn(pki / "coordinator/ca.crt"));
}

TEST(Pki, TheAuthorityVouchesForEachInItsOwnUseAlone) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki", other = folder.path() / "other";
  InitPki(pki);
  InitPki(other);
  IssueKit(pki, folder.path() / "kit", KitOf(kCoordinatorName));  // even by this name
  const std::string ca = TextIn(pki / "authority/ca.crt"),
                    server = TextIn(pki / "coordinator/server.crt"),
                    client = TextIn(folder.path() / "kit" / "client.crt");
  const int64_t now = std::time(nullptr);
  EXPECT_TRUE(Verifies(server, ca, CertificateUse::kCoordinator, now));
  EXPECT_TRUE(Verifies(client, ca, CertificateUse::kClient, now));
  EXPECT_FALSE(Verifies(client, ca, CertificateUse::kCoordinator, now));
  EXPECT_FALSE(Verifies(server, ca, CertificateUse::kClient, now));
  EXPECT_FALSE(Verifies(client, TextIn(other / "authority/ca.crt"), CertificateUse::kClient, now));
  EXPECT_FALSE(Verifies(client, client, CertificateUse::kClient, std::nullopt));
  // What a client signs with its own key is worth nothing.
  const KeyPair pair = {TextIn(folder.path() / "kit" / "client.key"), client};
  const KeyPair forged = MakeKeyPair({.use = CertificateUse::kClient,
                                      .name = "mallory",
                                      .not_before = now - 9,
                                      .not_after = now + 999},
                                     &pair);
  EXPECT_FALSE(Verifies(forged.certificate, ca, CertificateUse::kClient, now));
}

TEST(Pki, CertificatesLastAsLongAsAskedButNotLongerThanTheAuthority) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki";
  const int64_t now = std::time(nullptr);
  const PkiTerms terms = InitPki(pki, {.days = 30, .server_days = 10});
  const int64_t end = terms.authority;
  EXPECT_EQ(ReadServerKit(pki).expires, terms.server);
  EXPECT_NEAR(static_cast<double>(terms.server - now), 10 * kOneDay, 60);
  EXPECT_EQ(RenewServer(pki, 365), end);
  EXPECT_NEAR(static_cast<double>(end - now), 30 * kOneDay, 60);
  const Enrolment brief = IssueKit(pki, folder.path() / "a", KitOf("a", 7));
  EXPECT_NEAR(static_cast<double>(brief.expires - now), 7 * kOneDay, 60);
  EXPECT_EQ(IssueKit(pki, folder.path() / "b", KitOf("b", 365)).expires, end);
  const std::string ca = TextIn(pki / "authority/ca.crt"),
                    client = TextIn(folder.path() / "a/client.crt");
  EXPECT_TRUE(Verifies(client, ca, CertificateUse::kClient, brief.expires - 1));
  EXPECT_FALSE(Verifies(client, ca, CertificateUse::kClient, brief.expires + 1));
  EXPECT_EQ(ReadCertificate(client)->expires, brief.expires);

  InitPki(folder.path() / "past", {.days = -1});
  ExpectError(ExitCode::kNetwork, "has expired",
              [&] { IssueKit(folder.path() / "past", folder.path() / "c", KitOf("c")); });
  ExpectError(ExitCode::kNetwork, "has expired", [&] { RenewServer(folder.path() / "past"); });
}

TEST(Pki, TheCoordinatorsCertificateLastsAYearUnlessAskedOtherwise) {
  const auto folder = TestFolder();
  const int64_t now = std::time(nullptr);
  const PkiTerms terms = InitPki(folder.path() / "pki");
  EXPECT_NEAR(static_cast<double>(terms.authority - now), 3650 * kOneDay, 60);
  EXPECT_NEAR(static_cast<double>(terms.server - now), 365 * kOneDay, 60);
  EXPECT_NEAR(static_cast<double>(RenewServer(folder.path() / "pki") - now), 365 * kOneDay, 60);
}

TEST(Pki, ANewKeyOfTheCoordinatorLeavesKitsAndClientsAsTheyAre) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki";
  InitPki(pki);
  IssueKit(pki, folder.path() / "a", KitOf("a"));
  const ServerKit before = ReadServerKit(pki);
  const std::string list = TextIn(pki / "coordinator/enrolled.json");
  std::filesystem::remove(pki / "coordinator/server.key");  // lost, or never on this machine
  const int64_t expires = RenewServer(pki, 20);
  const ServerKit after = ReadServerKit(pki);
  EXPECT_EQ(after.expires, expires);
  EXPECT_NE(after.key, before.key);
  EXPECT_NE(ReadCertificate(after.certificate)->serial,
            ReadCertificate(before.certificate)->serial);
  EXPECT_TRUE(Verifies(after.certificate, ReadKit(folder.path() / "a").ca,
                       CertificateUse::kCoordinator, std::time(nullptr)));
  EXPECT_EQ(ModeOf(pki / "coordinator/server.key"), 0600u);
  EXPECT_EQ(TextIn(pki / "coordinator/enrolled.json"), list);
  EXPECT_EQ(FilesBelow(pki / "coordinator").size(), 4u) << "nothing half-made is left";
}

TEST(Pki, ACoordinatorNeedsItsPartAloneAndChangesNothing) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki", copy = folder.path() / "copy";
  InitPki(pki);
  IssueKit(pki, folder.path() / "a", KitOf("a"));
  std::filesystem::rename(pki / "authority", folder.path() / "offline");
  std::filesystem::copy(pki / "coordinator", copy);  // by another name, without the folder above
  for (const auto& each : {pki, copy}) {
    EXPECT_EQ(ReadServerKit(each).ca, ReadKit(folder.path() / "a").ca);
    EXPECT_EQ(ReadEnrolments(each).size(), 1u);
    EXPECT_EQ(ReadServerFacts(each)->name, kCoordinatorName);
    const auto refused = [&](const auto& change) {
      ExpectError(ExitCode::kData, "the authority's key is not here", change);
    };
    refused([&] { IssueKit(each, folder.path() / "b", KitOf("b")); });
    refused([&] { Revoke(each, "a"); });
    refused([&] { RenewServer(each); });
  }
  EXPECT_FALSE(ReadEnrolments(pki)[0].revoked);
}

TEST(Pki, AListThatIsCopiedOverCountsAtOnce) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki", copy = folder.path() / "copy";
  InitPki(pki);
  IssueKit(pki, folder.path() / "a", KitOf("a"));
  std::filesystem::copy(pki / "coordinator", copy);
  Enrolments coordinators(copy);
  IssueKit(pki, folder.path() / "b", KitOf("b"));
  Revoke(pki, "a");
  EXPECT_EQ(coordinators.ByName("b").state, EnrolmentState::kUnknown);
  EXPECT_EQ(coordinators.ByName("a").state, EnrolmentState::kValid);
  std::filesystem::copy_file(pki / "coordinator/enrolled.json", copy / "enrolled.json",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(coordinators.ByName("b").state, EnrolmentState::kValid);
  EXPECT_EQ(coordinators.ByName("a").state, EnrolmentState::kRevoked);
}

TEST(Pki, PartsOfTwoAuthoritiesAreRefused) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki", other = folder.path() / "other";
  InitPki(pki);
  InitPki(other);
  std::filesystem::remove_all(pki / "authority");
  std::filesystem::rename(other / "authority", pki / "authority");
  ExpectError(ExitCode::kNetwork, "of another authority",
              [&] { IssueKit(pki, folder.path() / "a", KitOf("a")); });
  ExpectError(ExitCode::kNetwork, "of another authority", [&] { RenewServer(pki); });
}

// One folder held everything before: it serves on, and the error says how to part it.
TEST(Pki, AFolderWithoutPartsServesAndIsPartedByOneCommand) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki", kit = folder.path() / "a";
  InitPki(pki);
  for (const char* name : {"ca.crt", "server.crt", "server.key", "enrolled.json"}) {
    std::filesystem::rename(pki / "coordinator" / name, pki / name);
  }
  std::filesystem::rename(pki / "authority" / "ca.key", pki / "ca.key");
  std::filesystem::remove_all(pki / "authority");
  std::filesystem::remove(pki / "coordinator");
  EXPECT_EQ(ReadServerKit(pki).expires, ReadServerFacts(pki)->expires);
  EXPECT_TRUE(ReadEnrolments(pki).empty());
  std::string told;
  try {
    IssueKit(pki, kit, KitOf("a"));
  } catch (const Error& error) {
    told = error.what();
  }
  const std::string before = "move its files: ";
  ASSERT_NE(told.find(before), std::string::npos) << told;
  const std::string command = told.substr(told.find(before) + before.size());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  IssueKit(pki, kit, KitOf("a"));
  EXPECT_EQ(ReadServerKit(pki).ca, ReadKit(kit).ca);
  EXPECT_EQ(FilesBelow(pki).size(), 8u);
}

TEST(Pki, ListsClientsByPlaceWithTheirState) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki";
  InitPki(pki);
  EXPECT_TRUE(ReadEnrolments(pki).empty());
  for (const char* name : {"c", "a", "b"}) {
    IssueKit(pki, folder.path() / name, KitOf(name, *name == 'a' ? -1 : 365));
  }
  EXPECT_TRUE(Revoke(pki, "b"));
  EXPECT_FALSE(Revoke(pki, "b"));  // again
  const auto enrolments = ReadEnrolments(pki);
  ASSERT_EQ(enrolments.size(), 3u);
  const int64_t now = std::time(nullptr);
  std::string seen;
  std::set<std::string> serials;
  for (const auto& each : enrolments) {
    seen += fmt::format("{} {} {}, ", each.place, each.name, ToString(StateOf(each, now)));
    serials.insert(each.serial);
    EXPECT_EQ(ReadKit(folder.path() / each.name).name, each.name);
    EXPECT_EQ(ReadCertificate(TextIn(folder.path() / each.name / "client.crt"))->serial,
              each.serial);
  }
  EXPECT_EQ(seen, "0 c valid, 1 a expired, 2 b revoked, ");
  EXPECT_EQ(serials.size(), 3u);
}

TEST(Pki, RenewingKeepsThePlaceAndRevokesTheOldCertificate) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki";
  InitPki(pki);
  const Enrolment first = IssueKit(pki, folder.path() / "a", KitOf("a"));
  IssueKit(pki, folder.path() / "b", KitOf("b"));
  ExpectError(ExitCode::kUsage, "--renew", [&] { IssueKit(pki, folder.path() / "c", KitOf("a")); });
  EXPECT_FALSE(FileExists(folder.path() / "c"));
  KitOptions renew = KitOf("a");
  renew.renew = true;
  Revoke(pki, "a");
  const Enrolment second = IssueKit(pki, folder.path() / "c", renew);
  EXPECT_EQ(second.place, first.place);
  EXPECT_NE(second.serial, first.serial);
  EXPECT_FALSE(second.revoked);
  EXPECT_EQ(ReadEnrolments(pki)[0].former, std::vector<std::string>{first.serial});
  EXPECT_EQ(IssueKit(pki, folder.path() / "d", KitOf("d")).place, 2);
  renew.name = "nobody";
  ExpectError(ExitCode::kUsage, "nothing to renew",
              [&] { IssueKit(pki, folder.path() / "e", renew); });
}

TEST(Pki, RefusesWhatCannotBeDone) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki", kit = folder.path() / "kit";
  ExpectError(ExitCode::kData, "pki init", [&] { IssueKit(pki, kit, KitOf("a")); });
  ExpectError(ExitCode::kData, "pki init", [&] { ReadEnrolments(pki); });
  ExpectError(ExitCode::kData, "pki init", [&] { Revoke(pki, "a"); });
  InitPki(pki);
  ExpectError(ExitCode::kExists, "is there already", [&] { InitPki(pki); });
  for (const char* name : {"../a", "a/b", "..", "", "a b"}) {
    ExpectError(ExitCode::kUsage, "not a name", [&] { IssueKit(pki, kit, KitOf(name)); });
    ExpectError(ExitCode::kUsage, "not a name", [&] { Revoke(pki, name); });
  }
  const auto issue_for = [&](const std::string& server) {
    IssueKit(pki, kit, {.name = "a", .server = server});
  };
  ExpectError(ExitCode::kUsage, "HOST:PORT", [&] { issue_for("localhost"); });
  ExpectError(ExitCode::kUsage, "HOST:PORT", [&] { issue_for("a\"\nname = \"b:1"); });
  ExpectError(ExitCode::kUsage, "port 0", [&] { issue_for("localhost:0"); });
  ExpectError(ExitCode::kUsage, "not enrolled", [&] { Revoke(pki, "a"); });
  MakeFolder(kit);
  ExpectError(ExitCode::kExists, "is there already", [&] { IssueKit(pki, kit, KitOf("a")); });
  EXPECT_TRUE(ReadEnrolments(pki).empty());
  EXPECT_EQ(FilesBelow(folder.path()).size(), 10u) << "nothing half-made is left";
}

TEST(Pki, KitsIssuedAtOnceAreAllEnrolled) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki";
  InitPki(pki);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 5; ++i) {
          const std::string name = fmt::format("client-{}-{}", thread, i);
          IssueKit(pki, folder.path() / name, KitOf(name));
        }
      });
    }
  }
  std::set<std::string> names;
  for (const auto& each : ReadEnrolments(pki)) names.insert(each.name);
  EXPECT_EQ(names.size(), 20u);
}

TEST(Pki, ADamagedListIsAnErrorThatSaysWhere) {
  const auto folder = TestFolder();
  const auto pki = folder.path() / "pki";
  InitPki(pki);
  IssueKit(pki, folder.path() / "a", KitOf("a"));
  const auto list = pki / "coordinator" / "enrolled.json";
  const std::string good = TextIn(list);
  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos);
    WriteFileAtomically(list, std::string_view(text.replace(text.find(from), from.size(), to)));
    ExpectError(ExitCode::kData, "enrolled.json: damaged", [&] { ReadEnrolments(pki); });
    ExpectError(ExitCode::kData, "enrolled.json: damaged",
                [&] { IssueKit(pki, folder.path() / "b", KitOf("b")); });
  };
  damaged("\"place\": 0", "\"place\": 1");
  damaged("\"place\": 0", "\"place\": \"0\"");
  damaged("\"name\": \"a\"", "\"name\": \"../a\"");
  damaged("\"serial\": \"", "\"serial\": \"x");
  damaged("\"version\": 1", "\"version\": 2");
  damaged("\"revoked\": false,", "");
  damaged("{", "");
}

}  // namespace
}  // namespace kindred
