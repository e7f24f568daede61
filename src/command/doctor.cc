// `kindred doctor`: what stands between this machine and its part in a federation.
#include "doctor/doctor.h"

#include "command/doctor_report.h"
#include "command/learning.h"
#include "command/resolve.h"

namespace kindred {

CommandResult Examine(const DoctorFlags& flags) {
  CheckWhoseMachine(flags);
  if (!flags.pki.empty()) {
    return DoctorReport(InspectCoordinator(*Resolve(flags.config).experiment,
                                           {flags.listen, flags.pki, flags.out}));
  }
  Resolved resolved = ResolveClient(flags.config, flags.kit, flags.data);
  return DoctorReport(InspectClient(*resolved.experiment, resolved.config, {flags.kit, flags.out}));
}

}  // namespace kindred
