// `kindred doctor`: what stands between this machine and its part in a federation.
#include "cli/command.h"
#include "cli/learning_library.h"
#include "command/doctor_report.h"

namespace kindred {
namespace {

// All of it, or what can be looked at without the library of commands that learn.
CommandResult InspectMachine(const DoctorFlags& flags) {
  if (flags.network) return ExamineNetwork(flags);
  CheckWhoseMachine(flags);
  const Learning* learning = nullptr;
  try {
    learning = &LoadLearning();
  } catch (const Error& error) {
    return ExamineNetwork(flags, {ProblemOf("library", error)});
  }
  return learning->doctor(flags);
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Program& program) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* command =
      AddCommand(app, program, "doctor", "Check whether this machine can serve or join",
                 [flags] { return InspectMachine(*flags); });
  AddConfigFlags(*command, flags->config);
  command->add_option("--pki", flags->pki,
                      "a coordinator: the folder of `kindred pki init`, or its coordinator/ alone");
  command->add_option("--listen", flags->listen, "a coordinator: HOST:PORT to listen on")
      ->capture_default_str();
  command->add_option("--kit", flags->kit, "a client: the folder of `kindred pki issue`");
  command->add_option("--data", flags->data, "a client: its images");
  command->add_option("--out", flags->out, "where the run's files go")->capture_default_str();
  command->add_flag(
      "--network", flags->network,
      "only keys, certificates, the port and the way to the coordinator; it does not ask whether "
      "this client is enrolled");
}

}  // namespace kindred
