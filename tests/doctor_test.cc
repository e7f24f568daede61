// `kindred doctor` as users type it, on both sides of a federation.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/process.h"
#include "tests/program.h"

namespace kindred {
namespace {

const std::string kTinyConfig = "--config '" KINDRED_SOURCE_DIR "/configs/tiny.toml' ";

// pki/, and the kits a/ and b/ of its two clients.
struct PairOfKits {
  TemporaryFolder folder = TestFolder();

  PairOfKits() {
    EXPECT_EQ(Kindred(folder, "pki init --out pki").code, 0);
    for (const std::string name : {"a", "b"}) {
      const Ran issued =
          Kindred(folder, "pki issue " + name + " --pki pki --server 127.0.0.1:1 --out " + name);
      EXPECT_EQ(issued.code, 0) << issued.err;
    }
  }
};

TEST(DoctorCommand, AsksWhoseMachineThisIs) {
  const TemporaryFolder folder = TestFolder();
  EXPECT_EQ(Kindred(folder, "doctor").code, 2);
  EXPECT_EQ(Kindred(folder, "doctor --pki pki --kit a").code, 2);
}

TEST(DoctorCommand, PrintsAListForProgramsAndTouchesNothing) {
  const PairOfKits made;
  const TemporaryFolder& folder = made.folder;
  const Ran ran =
      Kindred(folder, "doctor --json " + kTinyConfig + "--pki pki --listen 127.0.0.1:0 --out run");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto findings = nlohmann::json::parse(ran.out);
  ASSERT_TRUE(findings.is_array());
  for (const auto& each : findings) {
    for (const char* key : {"check", "state", "found", "remedy"}) EXPECT_TRUE(each.contains(key));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run"));
}

TEST(DoctorCommand, AKeyThatOthersMayReadIsAProblemWithItsRemedy) {
  const PairOfKits made;
  const TemporaryFolder& folder = made.folder;
  ::chmod((folder.path() / "pki" / "coordinator" / "server.key").c_str(), 0644);
  const Ran ran = Kindred(folder, "doctor " + kTinyConfig + "--pki pki --listen 127.0.0.1:0");
  EXPECT_EQ(ran.code, 4) << ran.out;
  EXPECT_NE(ran.out.find("-> chmod 600 pki/coordinator/server.key"), std::string::npos) << ran.out;
}

TEST(DoctorCommand, AClientLearnsWhetherItsCoordinatorTakesIt) {
  const PairOfKits made;
  const TemporaryFolder& folder = made.folder;
  Process server(folder.path(), "serve " + kTinyConfig + "--listen 127.0.0.1:0 --pki pki --out run",
                 "serve.log");
  const std::string examine =
      "doctor " + kTinyConfig + "--kit a --set client.server=" + server.After("listening on ");
  const Ran taken = Kindred(folder, examine);
  EXPECT_EQ(taken.code, 0) << taken.out << taken.err;
  EXPECT_NE(taken.out.find("this is client 0"), std::string::npos) << taken.out;

  EXPECT_EQ(Kindred(folder, "pki revoke a --pki pki").code, 0);
  const Ran revoked = Kindred(folder, examine);
  EXPECT_EQ(revoked.code, 4) << revoked.out;
  EXPECT_NE(revoked.out.find("revoked"), std::string::npos) << revoked.out;
  EXPECT_NE(revoked.out.find("--renew"), std::string::npos) << revoked.out;

  server.Kill();
  const Ran alone = Kindred(folder, examine);
  EXPECT_EQ(alone.code, 4) << alone.out;
  EXPECT_NE(alone.out.find("no TCP connection"), std::string::npos) << alone.out;
}

}  // namespace
}  // namespace kindred
