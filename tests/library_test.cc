// The program and the library that it loads: what works without it, and where it is looked for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/folders.h"
#include "tests/program.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

const fs::path kProgram = KINDRED_PROGRAM;
const fs::path kLibrary = kProgram.parent_path() / "libkindred_learn.so";
const std::string kTrain =
    "train --config '" KINDRED_SOURCE_DIR "/configs/tiny.toml' --set train.rounds=1 --out run";

// The program alone, in bin/.
std::string Installed(const TemporaryFolder& folder) {
  fs::create_directories(folder.path() / "bin");
  fs::copy_file(kProgram, folder.path() / "bin" / "kindred");
  return "bin/kindred";
}

TEST(Library, WhatLearnsNothingDoesWithoutIt) {
  const TemporaryFolder folder = TestFolder();
  const std::string program = Installed(folder);
  for (const char* command :
       {"--version", "--help", "help train", "list", "config show", "data list",
        "data inspect shapes", "pki init --out pki", "pki list --pki pki"}) {
    const Ran ran = RunProgram(folder, program, command);
    EXPECT_EQ(ran.code, 0) << command << ": " << ran.err;
    EXPECT_NE(ran.out, "") << command;
  }
  // The port is free, and nobody is enrolled yet.
  const Ran doctor = RunProgram(folder, program, "doctor --network --pki pki --listen 127.0.0.1:0");
  EXPECT_NE(doctor.code, 70) << doctor.err;
  EXPECT_NE(doctor.out.find("port"), std::string::npos) << doctor.err;
  EXPECT_EQ(doctor.out.find("settings"), std::string::npos) << doctor.out;
}

TEST(Library, WhatLearnsSaysThatItIsMissing) {
  const TemporaryFolder folder = TestFolder();
  ExpectFailure(RunProgram(folder, Installed(folder), kTrain), 70,
                "libkindred_learn.so is missing");
}

TEST(Library, IsFoundWhereItIsInstalled) {
  const TemporaryFolder folder = TestFolder();
  const std::string command = fmt::format("cmake --install '{}' --prefix '{}' > /dev/null",
                                          kProgram.parent_path().string(), folder.path().string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  fs::create_symlink("bin/kindred", folder.path() / "link");  // as /usr/bin may have one
  const Ran ran = RunProgram(folder, "./link", kTrain);
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST(Library, OneOfAnotherBuildIsRefused) {
  const TemporaryFolder folder = TestFolder();
  const std::string program = Installed(folder);
  fs::copy_file(KINDRED_OTHER_LIBRARY, folder.path() / "bin" / "libkindred_learn.so");
  ExpectFailure(RunProgram(folder, program, kTrain), 70, "belongs to another build");
}

TEST(Library, WithoutItTheDoctorStillLooksAtTheNetwork) {
  const TemporaryFolder folder = TestFolder();
  const std::string program = Installed(folder);
  ASSERT_EQ(RunProgram(folder, program, "pki init --out pki").code, 0);
  ASSERT_EQ(
      RunProgram(folder, program, "pki issue north --pki pki --server 127.0.0.1:1 --out kit").code,
      0);
  const Ran all = RunProgram(folder, program, "doctor --kit kit");
  EXPECT_NE(all.out.find("libkindred_learn.so is missing"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("route"), std::string::npos) << all.out;
  const Ran network = RunProgram(folder, program, "doctor --network --kit kit");
  EXPECT_EQ(network.code, 4) << network.out;  // nobody listens at port 1
  EXPECT_EQ(network.out.find("library"), std::string::npos) << network.out;
}

TEST(Library, AFileThatIsNoLibraryIsOneLine) {
  const TemporaryFolder folder = TestFolder();
  const std::string program = Installed(folder);
  std::ofstream(folder.path() / "bin" / "libkindred_learn.so") << "no library";
  ExpectFailure(RunProgram(folder, program, kTrain), 70, "libkindred_learn.so");
}

}  // namespace
}  // namespace kindred
