// The commands that learn. They need LibTorch, whose loading takes half a second, so they live in a
// library of their own that is loaded when one of them is called. All others answer at once.
#pragma once

#include "command/flags.h"
#include "command/result.h"

namespace kindred {

// The library's one entry (learning_table.cc).
struct Learning {
  const char* build;  // KINDRED_BUILD: version and commit; the program's own, or the two do not fit
  CommandResult (*train)(const TrainFlags& flags);
  CommandResult (*serve)(const ServeFlags& flags);
  CommandResult (*join)(const JoinFlags& flags);
  CommandResult (*eval)(const EvalFlags& flags);
  CommandResult (*embed)(const EmbedFlags& flags);
  CommandResult (*export_encoder)(const ExportFlags& flags);
  CommandResult (*reproduce)(const ReproduceFlags& flags);
  CommandResult (*bench)(const BenchFlags& flags);
  CommandResult (*doctor)(const DoctorFlags& flags);
};

CommandResult Train(const TrainFlags& flags);
CommandResult Serve(const ServeFlags& flags);
CommandResult JoinRun(const JoinFlags& flags);
CommandResult Eval(const EvalFlags& flags);
CommandResult Embed(const EmbedFlags& flags);
CommandResult Export(const ExportFlags& flags);
CommandResult Reproduce(const ReproduceFlags& flags);
CommandResult Bench(const BenchFlags& flags);
CommandResult Examine(const DoctorFlags& flags);

}  // namespace kindred

// What the program looks up in the library by name.
extern "C" const kindred::Learning* KindredLearning();
