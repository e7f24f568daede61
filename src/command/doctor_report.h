// The doctor, as far as it needs no LibTorch.
#pragma once

#include "command/flags.h"
#include "command/result.h"
#include "doctor/doctor_network.h"

namespace kindred {

CommandResult DoctorReport(const Findings& findings);

// Keys, certificates and the way to the coordinator alone, after what was found before.
CommandResult ExamineNetwork(const DoctorFlags& flags, Findings findings = {});

// Throws a usage error unless the flags say whose machine this is: a coordinator's or a client's.
void CheckWhoseMachine(const DoctorFlags& flags);

}  // namespace kindred
