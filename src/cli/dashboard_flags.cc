#include "cli/dashboard_flags.h"

namespace kindred {

void AddDashboardFlags(CLI::App& command, DashboardFlags& flags) {
  command
      .add_option(
          "--dashboard",
          [&flags](const CLI::results_t& given) {
            flags.wanted = true;
            if (!given.empty() && !given[0].empty()) flags.options.listen = given[0];
            return true;
          },
          "a live page of the run; HOST:PORT, 127.0.0.1:7480 when left out, port 0: any")
      ->expected(0, 1)
      ->type_name("[HOST:PORT]");
  command.add_option("--dashboard-token", flags.token_file,
                     "a file with the page's token; default: one is drawn");
}

}  // namespace kindred
