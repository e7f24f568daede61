#include "doctor/doctor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "federation/accept_loop.h"
#include "tests/folders.h"

namespace kindred {
namespace {

// The first finding of a check; one without a name when there is none.
Finding Found(const Findings& findings, const std::string& check) {
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [&](const Finding& each) { return each.check == check; });
  return at == findings.end() ? Finding{} : *at;
}

struct DoctorsFederation {
  TemporaryFolder folder = TestFolder();
  std::filesystem::path pki = folder.path() / "pki", kit = folder.path() / "kit",
                        out = folder.path() / "out";
  Experiment experiment;
  Config config = BindExperiment(experiment);

  explicit DoctorsFederation(const std::string& server = "127.0.0.1:1") {
    config.ApplyFile(KINDRED_SOURCE_DIR "/configs/tiny.toml");
    InitPki(pki);
    IssueKit(pki, kit, {.name = "a", .server = server});
    experiment.join.server = server;
    experiment.join.name = "a";
    experiment.coordinator.min_clients = 1;
    experiment.coordinator.upload_memory = 1;
  }
};

TEST(Doctor, ACoordinatorThatCanServeHasNoProblem) {
  const DoctorsFederation made;
  const auto findings = InspectCoordinator(made.experiment, {"127.0.0.1:0", made.pki, made.out});
  for (const auto& each : findings) {
    EXPECT_NE(each.state, FindingState::kProblem) << each.check << ": " << each.found;
  }
  for (const char* check : {"port", "keys", "certificate", "clients", "settings", "disk", "memory",
                            "descriptors", "cpu"}) {
    EXPECT_EQ(Found(findings, check).check, check);
  }
  EXPECT_FALSE(std::filesystem::exists(made.out));
}

TEST(Doctor, ATakenPortAnOpenKeyAndTooFewClientsAreProblemsOfACoordinator) {
  DoctorsFederation made;
  const AcceptLoop other("127.0.0.1:0", {}, [](int) {});
  const auto key = made.pki / "coordinator" / "server.key";
  ::chmod(key.c_str(), 0644);
  made.experiment.coordinator.min_clients = 2;
  const auto findings = InspectCoordinator(made.experiment, {other.address(), made.pki, made.out});
  EXPECT_EQ(Found(findings, "port").state, FindingState::kProblem);
  EXPECT_NE(Found(findings, "port").remedy.find("ss -ltnp"), std::string::npos);
  EXPECT_EQ(Found(findings, "clients").state, FindingState::kProblem);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.remedy == "chmod 600 " + key.string();
  }));
  EXPECT_EQ(ExitCodeOf(findings), ExitCode::kNetwork);
}

TEST(Doctor, AnAuthoritysKeyIsMissedByNobodyButWarnedOf) {
  const DoctorsFederation made;
  const auto inspect = [&] {
    return InspectCoordinator(made.experiment, {"127.0.0.1:0", made.pki, made.out});
  };
  const Finding here = Found(inspect(), "authority");
  EXPECT_EQ(here.state, FindingState::kWarning);
  EXPECT_NE(here.found.find("pki/authority"), std::string::npos) << here.found;
  std::filesystem::rename(made.pki / "authority", made.folder.path() / "offline");
  const auto findings = inspect();
  EXPECT_EQ(Found(findings, "authority").check, "");
  EXPECT_EQ(ExitCodeOf(findings), ExitCode::kDone);
}

TEST(Doctor, TheCoordinatorsCertificateIsToBeRenewedAMonthAhead) {
  const DoctorsFederation made;
  RenewServer(made.pki, 20);
  const auto findings = InspectCoordinator(made.experiment, {"127.0.0.1:0", made.pki, made.out});
  const Finding term = Found(findings, "certificate");
  EXPECT_EQ(term.state, FindingState::kWarning);
  EXPECT_NE(term.remedy.find("pki renew-server"), std::string::npos) << term.remedy;
}

TEST(Doctor, ClientsThatStateTheirOwnWeightAreWarnedOf) {
  const DoctorsFederation made;
  const auto weights = [&] {
    return Found(InspectCoordinator(made.experiment, {"127.0.0.1:0", made.pki, made.out}),
                 "weights");
  };
  EXPECT_EQ(weights().state, FindingState::kWarning);
  EXPECT_NE(weights().remedy.find("--images N"), std::string::npos) << weights().remedy;
  IssueKit(made.pki, made.folder.path() / "again",
           {.name = "a", .server = "localhost:1", .renew = true, .images = 40});
  EXPECT_EQ(weights().state, FindingState::kOk);
}

TEST(Doctor, PlainFeaturesAreAProblemOfACoordinator) {
  DoctorsFederation made;
  made.experiment.privacy.features = "plain";
  const auto findings = InspectCoordinator(made.experiment, {"127.0.0.1:0", made.pki, made.out});
  EXPECT_EQ(Found(findings, "settings").state, FindingState::kProblem);
  EXPECT_EQ(ExitCodeOf(findings), ExitCode::kData);
}

TEST(Doctor, AClientWhoseCoordinatorIsNotThereLearnsTheRestAboutItself) {
  std::string nobody;
  {
    const AcceptLoop gone("127.0.0.1:0", {}, [](int) {});
    nobody = gone.address();
  }
  DoctorsFederation made(nobody);
  const auto findings = InspectClient(made.experiment, made.config, {made.kit, made.out});
  EXPECT_NE(Found(findings, "route").found.find("no TCP connection"), std::string::npos);
  for (const char* check : {"keys", "certificate", "settings", "data", "disk", "memory", "cpu"}) {
    EXPECT_EQ(Found(findings, check).check, check);
    EXPECT_NE(Found(findings, check).state, FindingState::kProblem) << check;
  }
  EXPECT_EQ(ExitCodeOf(findings), ExitCode::kNetwork);
}

TEST(Doctor, AMissingFolderOfImagesIsAProblemOfAClient) {
  DoctorsFederation made;
  made.experiment.data.name = "folder";
  made.experiment.data.path = (made.folder.path() / "none").string();
  const auto findings = InspectClient(made.experiment, made.config, {made.kit, made.out});
  EXPECT_EQ(Found(findings, "data").state, FindingState::kProblem);
}

TEST(Doctor, AClientsNameMustBeTheCertificates) {
  DoctorsFederation made;
  made.experiment.join.name = "b";
  const auto findings = InspectClient(made.experiment, made.config, {made.kit, made.out});
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.found == "client.name = b, but the certificate is of a";
  }));
}

}  // namespace
}  // namespace kindred
