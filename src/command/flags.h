// What the command line says, per command. The flags are added in cli/; what they mean is there.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "report/dashboard.h"
#include "reproduce/paper_tables.h"

namespace kindred {

// Flags of a command that reads a configuration.
struct ConfigFlags {
  std::vector<std::string> files;  // later ones over earlier ones
  std::vector<std::string> assignments;
  // Values given by other flags or words of the command: (key, value, how it was given).
  std::vector<std::array<std::string, 3>> given;
};

// An encoder and the experiment it is looked at with: --run, --round.
struct EncoderFlags {
  std::vector<std::string> runs;
  int round = -1;  // not given
};

// A run's folder: --out, --resume.
struct RunFlags {
  std::string out;
  bool resume = false;
};

struct DashboardFlags {
  bool wanted = false;
  DashboardOptions options;
  std::string token_file;
};

struct TrainFlags {
  ConfigFlags config;
  RunFlags run;
  DashboardFlags page;
};

struct ServeFlags {
  ConfigFlags config;
  RunFlags run;
  DashboardFlags page;
  std::string listen = "127.0.0.1:7433";
  std::string pki;
  bool plain_text = false;
};

struct JoinFlags {
  ConfigFlags config;
  std::string kit, data, out;
  bool plain_text = false;
};

struct EvalFlags {
  std::string metric;
  ConfigFlags config;
  EncoderFlags encoder;
};

struct EmbedFlags {
  ConfigFlags config;
  EncoderFlags encoder;
  std::string out, plot, split = "all", color;
  int clusters = 0;
  bool images = false;  // a folder given by --images
  bool force = false;
};

struct ExportFlags {
  EncoderFlags encoder;
  std::string out;
  std::string input = "float";
  std::string license;
  bool force = false;
};

struct ReproduceFlags {
  TableChoice choice;
  std::string out;
  std::vector<std::string> known;
  bool plan_only = false;
  bool tables_only = false;
};

struct BenchFlags {
  ConfigFlags config;
  int turns = 3;
  int steps = 2;
};

struct DoctorFlags {
  ConfigFlags config;
  std::string pki, listen = "127.0.0.1:7433";
  std::string kit, data;
  std::string out = "runs";
  bool network = false;
};

}  // namespace kindred
