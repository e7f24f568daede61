#include "command/doctor_report.h"

#include "base/error.h"
#include "base/table.h"
#include "command/resolve.h"

namespace kindred {

CommandResult DoctorReport(const Findings& findings) {
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

void CheckWhoseMachine(const DoctorFlags& flags) {
  if (flags.pki.empty() == flags.kit.empty()) {
    throw UsageError(
        "say whose machine this is: --pki DIR for a coordinator, --kit DIR for a client");
  }
}

CommandResult ExamineNetwork(const DoctorFlags& flags, Findings findings) {
  CheckWhoseMachine(flags);
  if (!flags.pki.empty()) {
    InspectCoordinatorNetwork(*Resolve(flags.config).experiment,
                              {flags.listen, flags.pki, flags.out}, findings);
  } else {
    InspectClientNetwork(*ResolveClient(flags.config, flags.kit, flags.data).experiment,
                         {flags.kit, flags.out}, findings);
  }
  return DoctorReport(findings);
}

}  // namespace kindred
