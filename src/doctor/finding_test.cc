#include "doctor/finding.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kindred {
namespace {

constexpr int64_t kToday = 1'800'000'000, kOneDay = 24 * 60 * 60;

TEST(Finding, EndsWithTheNetworksCodeWhenAnyProblemIsOfTheNetwork) {
  const Finding fine = {"disk"},
                doubt = {"cpu", FindingState::kWarning, "", "", ExitCode::kNetwork};
  const Finding data = {"data", FindingState::kProblem};
  const Finding key = {"keys", FindingState::kProblem, "", "", ExitCode::kNetwork};
  EXPECT_EQ(ExitCodeOf({}), ExitCode::kDone);
  EXPECT_EQ(ExitCodeOf({fine, doubt}), ExitCode::kDone);
  EXPECT_EQ(ExitCodeOf({fine, data}), ExitCode::kData);
  EXPECT_EQ(ExitCodeOf({data, key}), ExitCode::kNetwork);
  EXPECT_EQ(ExitCodeOf({key, data}), ExitCode::kNetwork);
}

TEST(Finding, WarnsOfACertificateInItsLastThirtyDays) {
  const auto after = [](int64_t days) {
    return CertificateFinding({"a.crt", kToday + days * kOneDay}, kToday, "renew it");
  };
  EXPECT_EQ(after(30).state, FindingState::kOk);
  EXPECT_EQ(after(29).state, FindingState::kWarning);
  EXPECT_NE(after(29).found.find("29 days"), std::string::npos) << after(29).found;
  EXPECT_EQ(after(29).remedy, "renew it");
  EXPECT_EQ(after(0).state, FindingState::kProblem);
  EXPECT_EQ(after(-1).remedy, "renew it");
  EXPECT_EQ(after(-1).code, ExitCode::kNetwork);
}

TEST(Finding, ACertificateThatHasNotBegunIsAWrongClock) {
  const Finding finding =
      CertificateFinding({"a.crt", kToday + 400 * kOneDay, false}, kToday, "renew it");
  EXPECT_EQ(finding.check, "clock");
  EXPECT_EQ(finding.state, FindingState::kProblem);
  EXPECT_NE(finding.found.find("2027-01-15 08:00"), std::string::npos) << finding.found;
  EXPECT_NE(finding.remedy, "renew it");
}

TEST(Finding, AKeyThatOthersMayReadHasACommandThatAShellTakes) {
  EXPECT_EQ(SecretFinding("kit/client.key", 0100600).state, FindingState::kOk);
  EXPECT_EQ(SecretFinding("kit/client.key", 0100400).state, FindingState::kOk);
  EXPECT_EQ(SecretFinding("kit/client.key", 0100640).remedy, "chmod 600 kit/client.key");
  EXPECT_EQ(SecretFinding("my kit/o'hara", 0644).remedy, "chmod 600 'my kit/o'\\''hara'");
  EXPECT_EQ(SecretFinding("kit/client.key", 0604).code, ExitCode::kNetwork);
}

TEST(Finding, TellsTheEndsOfTheWayApart) {
  EXPECT_EQ(RouteFinding("h:1", std::nullopt, "renew").state, FindingState::kOk);
  std::vector<std::string> found;
  for (const WayEnd end : {WayEnd::kHost, WayEnd::kConnection, WayEnd::kTls, WayEnd::kFederation,
                           WayEnd::kCertificate}) {
    const Finding finding = RouteFinding("h:1", Unreached{end, "why"}, "renew");
    EXPECT_EQ(finding.state, FindingState::kProblem);
    EXPECT_EQ(finding.code, ExitCode::kNetwork);
    EXPECT_EQ(finding.remedy == "renew", end == WayEnd::kCertificate);
    EXPECT_FALSE(finding.remedy.empty());
    found.push_back(finding.found);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(std::unique(found.begin(), found.end()), found.end());
}

TEST(Finding, ARevokedClientIsToldToAskForANewKit) {
  const Finding revoked = RefusalFinding(
      "h:1: join: revoked: this certificate was revoked; ask for a new kit", "renew");
  EXPECT_EQ(revoked.found, "h:1: join: revoked: this certificate was revoked");
  EXPECT_EQ(revoked.remedy, "renew");
  EXPECT_EQ(revoked.code, ExitCode::kNetwork);
  EXPECT_EQ(
      RefusalFinding("h:1: join: protocol: protocol 1; install the same version", "renew").remedy,
      "install the same version");
}

TEST(Finding, CountsClientsThatAreNeitherRevokedNorExpired) {
  const std::vector<Enrolment> enrolled = {
      {.place = 0, .name = "a", .expires = kToday + 100 * kOneDay},
      {.place = 1, .name = "b", .expires = kToday + 5 * kOneDay},
      {.place = 2, .name = "c", .expires = kToday - 1},
      {.place = 3, .name = "d", .expires = kToday + 100 * kOneDay, .revoked = true}};
  EXPECT_EQ(EnrolledFinding(enrolled, 3, kToday).state, FindingState::kProblem);
  const Finding two = EnrolledFinding(enrolled, 2, kToday);
  EXPECT_EQ(two.state, FindingState::kWarning);
  EXPECT_NE(two.found.find("2 valid of 4"), std::string::npos) << two.found;
  EXPECT_NE(two.found.find("expires b"), std::string::npos) << two.found;
  EXPECT_EQ(EnrolledFinding({enrolled[0]}, 1, kToday).state, FindingState::kOk);
}

TEST(Finding, NamesAFewOfThoseWhoseImagesNobodyCounted) {
  std::vector<Enrolment> enrolled = {
      {.place = 0, .name = "counted", .expires = kToday + kOneDay, .images = 7},
      {.place = 1, .name = "gone", .expires = kToday + kOneDay, .revoked = true}};
  EXPECT_EQ(WeightsFinding(enrolled, kToday).state, FindingState::kOk);
  for (int i = 2; i < 9; ++i) {
    enrolled.push_back({.place = i, .name = fmt::format("c{}", i), .expires = kToday + kOneDay});
  }
  const Finding finding = WeightsFinding(enrolled, kToday);
  EXPECT_EQ(finding.state, FindingState::kWarning);
  EXPECT_NE(finding.found.find("7 of 8 clients"), std::string::npos) << finding.found;
  EXPECT_NE(finding.found.find("c2, c3, c4, c5, c6 and 2 more"), std::string::npos)
      << finding.found;
}

TEST(Finding, AFullDiskIsAProblemAndATightOneAWarning) {
  EXPECT_EQ(DiskFinding("out", 99, 100).state, FindingState::kProblem);
  EXPECT_EQ(DiskFinding("out", 150, 100).state, FindingState::kWarning);
  EXPECT_EQ(DiskFinding("out", 200, 100).state, FindingState::kOk);
  EXPECT_EQ(DiskFinding("out", 99, 100).code, ExitCode::kData);
}

TEST(Finding, MemoryIsHeldAgainstWhatIsNeeded) {
  EXPECT_EQ(MemoryFinding(99, 100, "less").state, FindingState::kProblem);
  EXPECT_EQ(MemoryFinding(199, 100, "less").remedy, "less");
  EXPECT_EQ(MemoryFinding(200, 100, "less").state, FindingState::kOk);
  EXPECT_EQ(AvailableMemory("MemTotal: 9 kB\nMemAvailable:     2048 kB\n"), 2048u << 10);
  EXPECT_EQ(AvailableMemory("MemTotal: 9 kB\n"), std::nullopt);
  EXPECT_EQ(AvailableMemory("MemAvailable:"), std::nullopt);
}

TEST(Finding, AConnectionTakesTwoDescriptors) {
  EXPECT_EQ(DescriptorFinding(2048, 1024).state, FindingState::kOk);
  const Finding few = DescriptorFinding(1024, 1024);
  EXPECT_EQ(few.state, FindingState::kWarning);
  EXPECT_NE(few.remedy.find("ulimit -n 2048"), std::string::npos) << few.remedy;
  EXPECT_EQ(DescriptorFinding(64, 1).state, FindingState::kProblem);
}

TEST(Finding, FewerImagesThanAnEncodingMixesAreAProblem) {
  EXPECT_EQ(ImagesFinding(4, {3, 32, 32}, 4).state, FindingState::kOk);
  EXPECT_EQ(ImagesFinding(3, {3, 32, 32}, 4).state, FindingState::kProblem);
  EXPECT_EQ(ImagesFinding(0, {3, 32, 32}, 0).state, FindingState::kProblem);
  EXPECT_EQ(ImagesFinding(3, {3, 32, 32}, 4).code, ExitCode::kData);
}

}  // namespace
}  // namespace kindred
