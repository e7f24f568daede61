// `kindred doctor`: what stands between this machine and its part in a federation.
#include "run/doctor.h"

#include "base/error.h"
#include "base/file.h"
#include "base/table.h"
#include "cli/command.h"

namespace kindred {
namespace {

struct DoctorFlags {
  std::string pki, listen = "127.0.0.1:7433";
  std::string kit, data;
  std::string out = "runs";
};

CommandResult Report(const Findings& findings) {
  CommandResult result = {.json = Json::array(), .code = ExitCodeOf(findings)};
  std::vector<std::vector<std::string>> rows = {{"check", "state", "found"}};
  int problems = 0, warnings = 0;
  for (const auto& each : findings) {
    problems += each.state == FindingState::kProblem;
    warnings += each.state == FindingState::kWarning;
    rows.push_back({each.check, ToString(each.state), each.found});
    if (!each.remedy.empty()) rows.push_back({"", "", "  -> " + each.remedy});
    result.json.push_back({{"check", each.check},
                           {"state", ToString(each.state)},
                           {"found", each.found},
                           {"remedy", each.remedy}});
  }
  result.text = fmt::format("{}\n{} problems, {} warnings\n", TextTable(rows), problems, warnings);
  return result;
}

CommandResult Examine(ConfigFlags config, const DoctorFlags& flags) {
  if (flags.pki.empty() == flags.kit.empty()) {
    throw UsageError(
        "say whose machine this is: --pki DIR for a coordinator, --kit DIR for a client");
  }
  if (!flags.pki.empty()) {
    const Resolved resolved = Resolve(config);
    return Report(LookAtCoordinator(*resolved.experiment, {flags.listen, flags.pki, flags.out}));
  }
  // As `kindred join` resolves it.
  const std::filesystem::path kit = flags.kit;
  if (FileExists(kit / "client.toml")) {
    config.files.insert(config.files.begin(), (kit / "client.toml").string());
  }
  if (!flags.data.empty()) config.given.push_back({"data.path", flags.data, "--data"});
  Resolved resolved = Resolve(config);
  if (!flags.data.empty() && resolved.config.OriginOf("data.name") == "default") {
    resolved.config.Apply("data.name", "folder", "--data");
  }
  return Report(LookAtClient(*resolved.experiment, resolved.config, {kit, flags.out}));
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Program& program) {
  auto config = std::make_shared<ConfigFlags>();
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* command =
      AddCommand(app, program, "doctor", "What keeps this machine from serving or joining",
                 [config, flags] { return Examine(*config, *flags); });
  AddConfigFlags(*command, config);
  command->add_option("--pki", flags->pki, "a coordinator: the folder of `kindred pki init`");
  command->add_option("--listen", flags->listen, "a coordinator: HOST:PORT to listen on")
      ->capture_default_str();
  command->add_option("--kit", flags->kit, "a client: the folder of `kindred pki issue`");
  command->add_option("--data", flags->data, "a client: its images");
  command->add_option("--out", flags->out, "where the run's files go")->capture_default_str();
}

}  // namespace kindred
