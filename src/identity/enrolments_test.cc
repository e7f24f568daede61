#include "identity/enrolments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>

#include "identity/certificate.h"
#include "identity/kit.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

struct WatchedPki {
  TemporaryFolder folder = TestFolder();
  std::filesystem::path pki = folder.path() / "pki";
  std::atomic<int> kits = 0;

  WatchedPki() { InitPki(pki); }

  // The new certificate, in PEM.
  std::string Issue(const std::string& name, bool renew = false, int days = 9) {
    const auto kit = folder.path() / fmt::format("kit-{}", kits.fetch_add(1));
    IssueKit(pki, kit, {.name = name, .server = "localhost:1", .days = days, .renew = renew});
    return ReadKit(kit).certificate;
  }
};

TEST(Enrolments, KnowsWhatIsIssuedRenewedAndRevokedWithoutARestart) {
  WatchedPki made;
  Enrolments enrolments(made.pki);
  EXPECT_TRUE(enrolments.All().empty());
  const std::string first = made.Issue("a"), other = made.Issue("b");
  EXPECT_EQ(enrolments.Find(first).state, EnrolmentState::kValid);
  EXPECT_EQ(enrolments.Find(other).enrolment.place, 1);
  EXPECT_EQ(enrolments.Find(other).enrolment.name, "b");
  const std::string second = made.Issue("a", true);
  EXPECT_EQ(enrolments.Find(first).state, EnrolmentState::kRevoked);
  EXPECT_EQ(enrolments.Find(second).state, EnrolmentState::kValid);
  EXPECT_EQ(enrolments.Find(second).enrolment.place, 0);
  Revoke(made.pki, "a");
  EXPECT_EQ(enrolments.Find(second).state, EnrolmentState::kRevoked);
  EXPECT_EQ(enrolments.ByName("a").state, EnrolmentState::kRevoked);
  EXPECT_EQ(enrolments.ByName("b").state, EnrolmentState::kValid);
  EXPECT_EQ(enrolments.ByName("c").state, EnrolmentState::kUnknown);
  EXPECT_EQ(enrolments.All().size(), 2u);
}

TEST(Enrolments, AnExpiredCertificateIsNotValid) {
  WatchedPki made;
  Enrolments enrolments(made.pki);
  EXPECT_EQ(enrolments.Find(made.Issue("a", false, -1)).state, EnrolmentState::kExpired);
}

TEST(Enrolments, OtherCertificatesAndTextsAreUnknown) {
  WatchedPki made, foreign;
  made.Issue("a");
  Enrolments enrolments(made.pki);
  EXPECT_EQ(enrolments.Find(foreign.Issue("a")).state, EnrolmentState::kUnknown);
  EXPECT_EQ(enrolments.Find(ReadServerKit(made.pki).certificate).state, EnrolmentState::kUnknown);
  EXPECT_EQ(enrolments.Find("").state, EnrolmentState::kUnknown);
  EXPECT_EQ(enrolments.Find("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").state,
            EnrolmentState::kUnknown);
}

TEST(Enrolments, ADamagedOrMissingListLeavesTheLastGoodOneAndWarnsOnce) {
  WatchedPki made;
  const std::string certificate = made.Issue("a");
  Enrolments enrolments(made.pki);
  const auto file = made.pki / "coordinator" / "enrolled.json";
  const Bytes good = ReadFile(file, 1 << 20);
  testing::internal::CaptureStdout();
  for (int i = 0; i < 3; ++i) {
    WriteFileAtomically(file, std::string_view("{\"version\": 1, \"clients\": [{}"));
    EXPECT_EQ(enrolments.Find(certificate).state, EnrolmentState::kValid);
    std::filesystem::remove(file);
    EXPECT_EQ(enrolments.Find(certificate).state, EnrolmentState::kValid);
  }
  const std::string warning = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1) << warning;
  WriteFileAtomically(file, good);
  Revoke(made.pki, "a");
  EXPECT_EQ(enrolments.Find(certificate).state, EnrolmentState::kRevoked);
}

TEST(Enrolments, NeedsAGoodListAtTheStart) {
  const auto folder = TestFolder();
  ExpectError(ExitCode::kData, "pki init", [&] { Enrolments enrolments(folder.path()); });
}

TEST(Enrolments, MayBeAskedByManyThreads) {
  WatchedPki made;
  const std::string certificate = made.Issue("a");
  Enrolments enrolments(made.pki);
  std::atomic<int> valid = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          if (i == 7) made.Issue("a", true);
          if (enrolments.ByName("a").state == EnrolmentState::kValid) ++valid;
          enrolments.Find(certificate);
        }
      });
    }
  }
  EXPECT_EQ(valid, 200);
  EXPECT_EQ(enrolments.Find(certificate).state, EnrolmentState::kRevoked);
}

}  // namespace
}  // namespace kindred
