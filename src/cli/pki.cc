#include "identity/pki.h"

#include <fmt/chrono.h>

#include <ctime>

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"

namespace kindred {
namespace {

struct PkiFlags {
  std::string folder, kit;
  PkiOptions pki;
  KitOptions client;
};

std::string Day(int64_t unix_seconds) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

CommandResult InitAuthority(const PkiFlags& flags) {
  const int64_t expires = InitPki(flags.folder, flags.pki);
  return {fmt::format("{0}: an authority and the coordinator's certificate, until {1}; its keys "
                      "are secret\nnext: kindred pki issue NAME --pki {0} --server HOST:PORT --out "
                      "KIT\n",
                      flags.folder, Day(expires)),
          {{"path", flags.folder}, {"expires", expires}}};
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
  result.json["clients"] = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"place", "name", "images", "serial", "expires", "state"}};
  for (const auto& each : ReadEnrolments(flags.folder)) {
    const std::string state = ToString(StateOf(each, std::time(nullptr)));
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
  result.text = rows.size() == 1 ? "nobody is enrolled\n" : TextTable(rows);
  return result;
}

CommandResult RevokeClient(const PkiFlags& flags) {
  const bool changed = Revoke(flags.folder, flags.client.name);
  return {fmt::format("{}: {}\n", flags.client.name,
                      changed ? "revoked; a running coordinator refuses it from now on"
                              : "was revoked already"),
          {{"name", flags.client.name}, {"changed", changed}}};
}

}  // namespace

void AddPkiCommand(CLI::App& app, Program& program) {
  CLI::App* pki =
      app.add_subcommand("pki", "Who may take part over a network: init, issue, list, revoke");
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
  init->add_option("--days", flags->pki.days, "until both expire")
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
      add("list", "The clients, their places and how their certificates stand", ListEnrolled));
  CLI::App* revoke = add("revoke", "Revoke a client's certificates", RevokeClient);
  take_name(revoke);
  take_folder(revoke);
}

}  // namespace kindred
