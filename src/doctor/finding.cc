#include "doctor/finding.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>
#include <string_view>

#include "base/progress.h"
#include "identity/kit.h"

namespace kindred {
namespace {

constexpr int64_t kSecondsOfDay = 24 * 60 * 60;
constexpr size_t kMostNamed = 5;           // clients in one line
constexpr uint64_t kFewDescriptors = 128;  // libraries, logs, checkpoints and a connection
constexpr auto kIdentity = ExitCode::kNetwork;

std::string DayOf(int64_t unix_seconds) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

// A path as a shell takes it.
std::string Quoted(const std::filesystem::path& path) {
  const std::string text = path.string();
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("/._-+:,@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string ToString(FindingState state) {
  switch (state) {
    case FindingState::kOk:
      return "ok";
    case FindingState::kWarning:
      return "warning";
    case FindingState::kProblem:
      return "problem";
  }
  Check(false, "a state without a name");
  return {};
}

ExitCode ExitCodeOf(const Findings& findings) {
  ExitCode code = ExitCode::kDone;
  for (const auto& each : findings) {
    if (each.state != FindingState::kProblem) continue;
    if (each.code == ExitCode::kNetwork) return ExitCode::kNetwork;
    code = ExitCode::kData;
  }
  return code;
}

Finding ProblemOf(const std::string& check, const std::string& message, ExitCode code,
                  const std::string& remedy) {
  const auto cut = message.find("; ");
  const std::string advice = cut == std::string::npos ? "" : message.substr(cut + 2);
  return {check, FindingState::kProblem, message.substr(0, cut), remedy.empty() ? advice : remedy,
          code};
}

Finding ProblemOf(const std::string& check, const Error& error) {
  return ProblemOf(check, error.what(), error.code());
}

Finding CertificateFinding(const CertificateTerm& term, int64_t now, const std::string& renew) {
  const std::string until = fmt::format("{}: until {}", Printable(term.path), DayOf(term.expires));
  if (!term.begun) {
    return {"clock", FindingState::kProblem,
            fmt::format("{}: not valid yet by this machine's clock, which says {:%Y-%m-%d %H:%M} "
                        "UTC",
                        Printable(term.path), fmt::gmtime(static_cast<std::time_t>(now))),
            "sudo timedatectl set-ntp true", kIdentity};
  }
  if (term.expires <= now) {
    return {"certificate", FindingState::kProblem,
            fmt::format("{}: expired on {}", Printable(term.path), DayOf(term.expires)), renew,
            kIdentity};
  }
  if (term.expires - now < kRenewAhead) {
    return {"certificate", FindingState::kWarning,
            fmt::format("{}, {} days", until, (term.expires - now) / kSecondsOfDay), renew};
  }
  return {"certificate", FindingState::kOk, until};
}

Finding SecretFinding(const std::filesystem::path& path, unsigned mode) {
  if ((mode & 0177) == 0) {
    return {"keys", FindingState::kOk, fmt::format("{}: its owner's", Printable(path.string()))};
  }
  return {"keys", FindingState::kProblem,
          fmt::format("{}: mode {:03o}, others than its owner may use it", Printable(path.string()),
                      mode & 0777),
          fmt::format("chmod 600 {}", Quoted(path)), kIdentity};
}

Finding RouteFinding(const std::string& address, const std::optional<Unreached>& failed,
                     const std::string& renew) {
  if (!failed) {
    return {"route", FindingState::kOk,
            fmt::format("{}: reached, and both certificates are taken", address)};
  }
  const auto problem = [&](const char* what, const std::string& remedy) {
    return Finding{"route", FindingState::kProblem,
                   fmt::format("{}: {} ({})", address, what, Printable(failed->why)), remedy,
                   ExitCode::kNetwork};
  };
  switch (failed->end) {
    case WayEnd::kHost:
      return problem("the name stands for no address",
                     "correct the name: --set client.server=HOST:PORT, or an entry in /etc/hosts");
    case WayEnd::kConnection:
      return problem("no TCP connection",
                     "start `kindred serve` there with --listen 0.0.0.0:PORT, and let that TCP "
                     "port through the coordinator's firewall");
    case WayEnd::kTls:
      return problem("somebody answers, but not with TLS",
                     "another program has that port, or `kindred serve` has --plain-text: correct "
                     "the port with --set client.server=HOST:PORT");
    case WayEnd::kFederation:
      return problem("not the coordinator of this kit's federation",
                     "take the address and the kit of one federation; a kit of another authority "
                     "is of no use");
    case WayEnd::kCertificate:
      return problem("the coordinator does not take this certificate", renew);
  }
  Check(false, "a way that ends nowhere");
  return {};
}

Finding RefusalFinding(const std::string& message, const std::string& renew) {
  const auto has = [&](const char* text) { return message.find(text) != std::string::npos; };
  std::string remedy;
  if (has("revoked: ") || has("identity: ")) remedy = renew;
  if (has("out of reach")) {
    remedy = "once more; if it stays so, the coordinator's train.log and audit.jsonl say why";
  }
  return ProblemOf("greeting", message, ExitCode::kNetwork, remedy);
}

Finding EnrolledFinding(const std::vector<Enrolment>& enrolled, int needed, int64_t now) {
  int valid = 0;
  std::string leaving;
  for (const auto& each : enrolled) {
    if (StateOf(each, now) != EnrolmentState::kValid) continue;
    ++valid;
    if (each.expires - now < kRenewAhead) leaving += (leaving.empty() ? "" : ", ") + each.name;
  }
  const std::string found =
      fmt::format("{} valid of {} enrolled, a round needs {}", valid, enrolled.size(), needed);
  if (valid < needed) {
    return {"clients", FindingState::kProblem, found,
            "kindred pki issue NAME --pki PKI --server HOST:PORT --out KIT, or lower "
            "server.min_clients",
            kIdentity};
  }
  if (!leaving.empty()) {
    return {"clients", FindingState::kWarning,
            fmt::format("{}; within 30 days expires {}", found, leaving),
            "kindred pki issue NAME --pki PKI --server HOST:PORT --out KIT --renew"};
  }
  return {"clients", FindingState::kOk, found};
}

Finding WeightsFinding(const std::vector<Enrolment>& enrolled, int64_t now) {
  size_t stated = 0, valid = 0;
  std::string names;
  for (const auto& each : enrolled) {
    if (StateOf(each, now) != EnrolmentState::kValid) continue;
    ++valid;
    if (each.images > 0) continue;
    if (++stated <= kMostNamed) names += (names.empty() ? "" : ", ") + each.name;
  }
  if (stated == 0) {
    return {"weights", FindingState::kOk,
            fmt::format("{} clients, each enrolled with its number of images", valid)};
  }
  if (stated > kMostNamed) names += fmt::format(" and {} more", stated - kMostNamed);
  return {"weights", FindingState::kWarning,
          fmt::format("{} of {} clients state their own number of images, which is their weight, "
                      "up to server.max_images and server.max_claimed_share: {}",
                      stated, valid, names),
          "kindred pki issue NAME --pki PKI --server HOST:PORT --out KIT --renew --images N"};
}

Finding AuthorityFinding(const std::filesystem::path& folder) {
  return {"authority", FindingState::kWarning,
          fmt::format("{}: the authority's key is on this machine; whoever breaks into it can "
                      "enrol anybody",
                      Printable(folder.string())),
          "keep that folder on a machine that is offline: kindred serve works without it"};
}

Finding UnwritableFinding(const std::filesystem::path& folder) {
  return {"disk", FindingState::kProblem,
          fmt::format("{}: this user may not write there", Printable(folder.string())),
          fmt::format("sudo chown \"$(id -un)\" {}, or choose another --out", Quoted(folder))};
}

Finding DiskFinding(const std::string& folder, uint64_t free, uint64_t needed) {
  const std::string found = fmt::format("{}: {} free, a run keeps up to {}", Printable(folder),
                                        HumanBytes(free), HumanBytes(needed));
  if (free < needed) {
    return {"disk", FindingState::kProblem, found, "make room there, or choose another --out"};
  }
  if (free / 2 < needed) {
    return {"disk", FindingState::kWarning, found, "make room there: logs and metrics grow too"};
  }
  return {"disk", FindingState::kOk, found};
}

Finding MemoryFinding(uint64_t available, uint64_t needed, const std::string& remedy) {
  const std::string found =
      fmt::format("{} available, at least {} needed", HumanBytes(available), HumanBytes(needed));
  if (available < needed) return {"memory", FindingState::kProblem, found, remedy};
  if (available / 2 < needed) return {"memory", FindingState::kWarning, found, remedy};
  return {"memory", FindingState::kOk, found};
}

Finding DescriptorFinding(uint64_t most, int connections) {
  const auto wanted = std::max<uint64_t>(kFewDescriptors, 2 * static_cast<uint64_t>(connections));
  const std::string found = fmt::format("{} open files allowed, {} wanted", most, wanted);
  const std::string remedy = fmt::format(
      "ulimit -n {0} in the shell that starts kindred, LimitNOFILE={0} in its systemd unit",
      wanted);
  if (most < kFewDescriptors) return {"descriptors", FindingState::kProblem, found, remedy};
  if (most < wanted) {
    return {"descriptors", FindingState::kWarning,
            fmt::format("{}: {} connections at a time, not {}", found, most / 2, connections),
            remedy};
  }
  return {"descriptors", FindingState::kOk, found};
}

Finding ImagesFinding(int count, const ImageShape& shape, int least) {
  const std::string found =
      fmt::format("{} images, {} x {} x {}", count, shape.channels, shape.height, shape.width);
  if (count >= std::max(1, least)) return {"data", FindingState::kOk, found};
  return {"data", FindingState::kProblem,
          fmt::format("{}; to share features takes {}", found, least),
          "add images: with fewer than that nothing can be shared"};
}

std::optional<uint64_t> AvailableMemory(const std::string& meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const auto at = meminfo.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  const auto number = meminfo.find_first_not_of(' ', at + kKey.size());
  if (number == std::string::npos) return std::nullopt;
  uint64_t kilobytes = 0;
  const char* end = meminfo.data() + meminfo.size();
  if (std::from_chars(meminfo.data() + number, end, kilobytes).ec != std::errc()) {
    return std::nullopt;
  }
  return kilobytes << 10;
}

}  // namespace kindred
