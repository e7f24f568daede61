// The program `kindred`: parses the command line, runs one command, turns errors into exit codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/pinned_kernels.h"
#include "cli/command.h"
#include "cli/learning_library.h"

namespace kindred {
namespace {

constexpr const char* kVersion = KINDRED_VERSION;

// The command that words begin with.
struct Named {
  std::string words = "kindred";  // as typed
  std::string wrong = {};         // what to say of a word that is no command; empty: none is
};

Named CommandIn(const std::vector<std::string>& words, const CLI::App& app) {
  const CLI::App* command = &app;
  Named named;
  for (const auto& word : words) {
    const auto known = command->get_subcommands([](const CLI::App*) { return true; });
    if (word.starts_with('-') || known.empty()) break;
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const CLI::App* each) { return each->check_name(word); });
    if (at == known.end()) {
      std::vector<std::string> names;
      for (const auto* each : known) names.push_back(each->get_name());
      const std::string nearest = Nearest(word, names);
      named.wrong =
          fmt::format("{}: no such command; {}", Printable(word),
                      nearest.empty() ? fmt::format("`{} --help` lists them", named.words)
                                      : fmt::format("did you mean {} {}?", named.words, nearest));
      break;
    }
    command = *at;
    named.words += " " + word;
  }
  return named;
}

// What CLI11 did not like, in one line; a word that is no command gets the nearest one.
std::string Explain(const CLI::ParseError& error, const Named& named) {
  if (!named.wrong.empty()) return named.wrong;
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fmt::format("{}; `{} --help` shows what it takes", Printable(message), named.words);
}

int Run(int argc, char** argv, Program& program) {
  CLI::App app(
      "Kindred learns one visual representation from unlabeled images that stay with their "
      "owners.",
      "kindred");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(28);
  AddTrainCommand(app, program);
  AddServeCommand(app, program);
  AddJoinCommand(app, program);
  AddEvalCommand(app, program);
  AddEmbedCommand(app, program);
  AddExportCommand(app, program);
  AddReproduceCommand(app, program);
  AddReportCommand(app, program);
  AddBenchCommand(app, program);
  AddPkiCommand(app, program);
  AddDoctorCommand(app, program);
  AddDataCommand(app, program);
  AddListCommand(app, program);
  AddConfigCommand(app, program);
  app.footer(
      "`kindred help COMMAND` shows what a command takes.");  // the commands would inherit it
  std::vector<std::string> words(argv + std::min(1, argc), argv + argc);
  const bool help = !words.empty() && words[0] == "help";
  if (help) {  // help data get: data get --help
    words.erase(words.begin());
    words.push_back("--help");
  }
  const Named named = CommandIn(words, app);
  if (help && !named.wrong.empty()) throw UsageError("{}", named.wrong);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the way CLI11 takes them
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      if (!std::cout.flush()) throw DataError("standard output cannot be written");
      return 0;
    }
    throw UsageError("{}", Explain(error, named));
  }
  const CommandResult result = program.chosen();
  if (result.silent) return static_cast<int>(result.code);
  const std::string out =
      program.json
          ? result.json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
          : result.text;
  if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0) {
    throw DataError("standard output cannot be written");
  }
  return static_cast<int>(result.code);
}

int Main(int argc, char** argv) {
  // Closed standard streams would be taken over by the first files opened.
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
    if (fd > STDERR_FILENO) {
      ::close(fd);
      break;
    }
  }
  StartLog();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is a failed write, like a full disk
  Program program;
  try {
    RestartWithoutCpuTunables(argv);
    if (sodium_init() < 0) throw Error(ExitCode::kInternal, "libsodium does not start");
    return Run(argc, argv, program);
  } catch (const Interrupted&) {
    spdlog::info("stopped{}", program.go_on.empty() ? "" : "; " + program.go_on);
    return kStoppedBySignal;
  } catch (const Error& error) {
    spdlog::error("{}", error.what());
    return static_cast<int>(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    spdlog::error("{}", Printable(error.what()));
    return static_cast<int>(ExitCode::kData);
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory; take fewer or smaller images (data.limit, data.size)");
    return static_cast<int>(ExitCode::kInternal);
  } catch (const std::exception& error) {
    spdlog::error("internal error: {}", Printable(error.what()));
    return static_cast<int>(ExitCode::kInternal);
  }
}

// Ends the program without tearing down the libraries below: threads of gRPC may still run, and
// what they use would be destroyed under them. A sanitizer looks for leaks on the ordinary way out.
[[noreturn]] void ExitWithoutTeardown(int code) {
  spdlog::default_logger()->flush();
  std::fflush(nullptr);
#if !defined(__SANITIZE_ADDRESS__)
  ::_exit(code);
#else
  std::exit(code);
#endif
}

}  // namespace
}  // namespace kindred

int main(int argc, char** argv) {
  const int code = kindred::Main(argc, argv);
  if (kindred::LearningIsLoaded()) kindred::ExitWithoutTeardown(code);
  return code;
}
