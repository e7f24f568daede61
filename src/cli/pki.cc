#include "identity/pki.h"

#include <fmt/chrono.h>

#include <ctime>

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "identity/kit.h"

namespace kindred {
namespace {

struct PkiFlags {
  std::string folder, kit;
  PkiOptions pki;
  KitOptions client;
  int server_days = PkiOptions().server_days;
};

std::string Day(int64_t unix_seconds) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

CommandResult InitAuthority(const PkiFlags& flags) {
  const PkiTerms terms = InitPki(flags.folder, flags.pki);
  return {fmt::format("{0}/authority: signs certificates until {1}; keep it offline\n"
                      "{0}/coordinator: the coordinator's, until {2}; all that `kindred serve` "
                      "needs\n"
                      "next: kindred pki issue NAME --pki {0} --server HOST:PORT --out KIT\n",
                      flags.folder, Day(terms.authority), Day(terms.server)),
          {{"path", flags.folder}, {"expires", terms.authority}, {"server_expires", terms.server}}};
}

CommandResult RenewCoordinator(const PkiFlags& flags) {
  const int64_t expires = RenewServer(flags.folder, flags.server_days);
  return {fmt::format("{0}/coordinator: a new key and certificate, until {1}; kits stay good\n"
                      "next: copy it to the coordinator's machine if that is another one, and "
                      "restart `kindred serve` there with --resume\n",
                      flags.folder, Day(expires)),
          {{"path", flags.folder}, {"server_expires", expires}}};
}

CommandResult Issue(const PkiFlags& flags) {
  const Enrolment made = IssueKit(flags.folder, flags.kit, flags.client);
  return {
      fmt::format(
          "{}: {} is client {}, its certificate expires {}; give this folder to its owner over a "
          "private channel\n",
          flags.kit, made.name, made.place, Day(made.expires)),
      {{"path", flags.kit},
       {"place", made.place},
       {"name", made.name},
       {"serial", made.serial},
       {"expires", made.expires}}};
}

CommandResult ListEnrolled(const PkiFlags& flags) {
  CommandResult result;
  const int64_t now = std::time(nullptr);
  std::vector<std::vector<std::string>> rows = {
      {"place", "name", "images", "serial", "expires", "state"}};
  result.json["coordinator"] = nullptr;
  if (const auto server = ReadServerFacts(flags.folder)) {
    const std::string state = ToString(StateOf({.expires = server->expires}, now));
    rows.push_back({"-", "the coordinator", "-", server->serial, Day(server->expires), state});
    result.json["coordinator"] = {
        {"serial", server->serial}, {"expires", server->expires}, {"state", state}};
  }
  result.json["clients"] = Json::array();
  for (const auto& each : ReadEnrolments(flags.folder)) {
    const std::string state = ToString(StateOf(each, now));
    rows.push_back({std::to_string(each.place), each.name,
                    each.images > 0 ? std::to_string(each.images) : "-", each.serial,
                    Day(each.expires), state});
    result.json["clients"].push_back({{"place", each.place},
                                      {"name", each.name},
                                      {"images", each.images},
                                      {"serial", each.serial},
                                      {"expires", each.expires},
                                      {"state", state}});
  }
  result.text = TextTable(rows);
  if (result.json["clients"].empty()) result.text += "nobody is enrolled\n";
  return result;
}

CommandResult RevokeClient(const PkiFlags& flags) {
  const bool changed = Revoke(flags.folder, flags.client.name);
  return {fmt::format("{}: {}\n", flags.client.name,
                      changed ? "revoked; a coordinator that has this list refuses it from now on"
                              : "was revoked already"),
          {{"name", flags.client.name}, {"changed", changed}}};
}

}  // namespace

void AddPkiCommand(CLI::App& app, Program& program) {
  CLI::App* pki =
      app.add_subcommand("pki", "Who may take part over a network: certificates and kits");
  pki->require_subcommand(1);
  auto flags = std::make_shared<PkiFlags>();
  const auto add = [&](const char* name, const char* summary,
                       CommandResult (*action)(const PkiFlags&)) {
    return AddCommand(*pki, program, name, summary, [flags, action] { return action(*flags); });
  };
  const auto take_folder = [&](CLI::App* command) {
    command->add_option("--pki", flags->folder, "folder of `kindred pki init`")->required();
  };
  const auto take_name = [&](CLI::App* command) {
    command->add_option("name", flags->client.name, "the client's")->required();
  };

  CLI::App* init =
      add("init", "Make a certificate authority and the coordinator's certificate", InitAuthority);
  init->add_option("--out", flags->folder, "folder to make")->required();
  init->add_option("--days", flags->pki.days, "until the authority expires")
      ->capture_default_str()
      ->check(CLI::Range(1, 36500));
  init->add_option("--server-days", flags->pki.server_days,
                   "until the coordinator's certificate expires, at the latest with the authority")
      ->capture_default_str()
      ->check(CLI::Range(1, 36500));

  CLI::App* issue = add("issue", "Enrol a client and make the kit that it takes part with", Issue);
  take_name(issue);
  take_folder(issue);
  issue->add_option("--server", flags->client.server, "HOST:PORT where the coordinator is reached")
      ->required();
  issue->add_option("--out", flags->kit, "folder to make, the kit")->required();
  issue
      ->add_option("--days", flags->client.days,
                   "until the certificate expires, at the latest with the authority")
      ->capture_default_str()
      ->check(CLI::Range(1, 36500));
  issue
      ->add_option(
          "--images", flags->client.images,
          "how many images its owner has: the client must have exactly so many; default: it states "
          "its own number")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 26));
  issue->add_flag("--renew", flags->client.renew,
                  "a new certificate for an enrolled client; the old one is revoked");

  take_folder(
      add("list", "The coordinator, the clients, and how their certificates stand", ListEnrolled));
  CLI::App* renew =
      add("renew-server", "Give the coordinator a new key and certificate; kits stay good",
          RenewCoordinator);
  take_folder(renew);
  renew
      ->add_option("--days", flags->server_days,
                   "until the certificate expires, at the latest with the authority")
      ->capture_default_str()
      ->check(CLI::Range(1, 36500));
  CLI::App* revoke = add("revoke", "Revoke a client's certificates", RevokeClient);
  take_name(revoke);
  take_folder(revoke);
}

}  // namespace kindred
