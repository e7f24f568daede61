#include "report/dashboard.h"

#include <microhttpd.h>
#include <sodium.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "report/listen.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/prometheus.h"
#include "report/tail.h"

namespace kindred {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kMostConnections = 64, kMostOfOneAddress = 48;
constexpr unsigned kIdleSeconds = 30;
constexpr size_t kMostRequest = 16 << 10;  // bytes of a request's head
constexpr auto kLook = std::chrono::milliseconds(200);
constexpr auto kHeartbeat = std::chrono::seconds(5);
constexpr std::array kParts = {"clients", "samples", "embedding"};
// The page brings its own, with the hashes of its scripts; this is for who asks for JSON.
constexpr const char* kPolicy = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string Header(MHD_Connection* connection, const char* name) {
  const char* value = ::MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

// How many headers of the name, in small letters, there are.
int Count(MHD_Connection* connection, const char* name) {
  std::pair<const char*, int> found = {name, 0};
  ::MHD_get_connection_values(
      connection, MHD_HEADER_KIND,
      [](void* own, MHD_ValueKind, const char* key, const char*) {
        auto& [wanted, count] = *static_cast<std::pair<const char*, int>*>(own);
        count += Lower(key) == wanted;
        return MHD_YES;
      },
      &found);
  return found.second;
}

MHD_Result Send(MHD_Connection* connection, unsigned code, MHD_Response* response,
                const char* type) {
  const auto add = [&](const char* name, const char* value) {
    ::MHD_add_response_header(response, name, value);
  };
  add("Content-Type", type);
  add("Content-Security-Policy", kPolicy);
  add("X-Content-Type-Options", "nosniff");
  add("X-Frame-Options", "DENY");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Cross-Origin-Opener-Policy", "same-origin");
  add("Cache-Control", "no-store");
  if (code == MHD_HTTP_UNAUTHORIZED) add("WWW-Authenticate", "Bearer");
  if (code == MHD_HTTP_METHOD_NOT_ALLOWED) add("Allow", "GET, HEAD");
  const MHD_Result result = ::MHD_queue_response(connection, code, response);
  ::MHD_destroy_response(response);
  return result;
}

MHD_Result SendText(MHD_Connection* connection, unsigned code, std::string_view text,
                    const char* type) {
  return Send(connection, code,
              ::MHD_create_response_from_buffer(text.size(), const_cast<char*>(text.data()),
                                                MHD_RESPMEM_MUST_COPY),
              type);
}

std::string Event(const std::string& kind, const std::string& data, const std::string& id) {
  return fmt::format("{}event: {}\ndata: {}\n\n", id.empty() ? "" : "id: " + id + "\n", kind, data);
}

std::string TimeOf(const std::filesystem::path& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  return error ? "" : std::to_string(time.time_since_epoch().count());
}

}  // namespace

std::string DrawToken() {
  std::array<uint8_t, 32> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

struct Dashboard::State {
  RunDir dir;
  std::string token;
  std::vector<std::string> hosts;  // what a browser may call us
  std::atomic<bool> ending = false;
  MHD_Daemon* daemon = nullptr;

  std::mutex mutex;  // of what /metrics tells, and of how far it has read
  RunGauges gauges;
  Tail metrics, audit;

  explicit State(const RunDir& run) : dir(run), metrics(run.metrics(), 0), audit(run.audit(), 0) {}

  // Of one listener; lives as long as its connection.
  struct Stream {
    const State& state;
    Tail metrics, audit;
    std::map<std::string, std::string> parts = {};  // when each was written
    std::string out = {};                           // to be sent
    bool told_end = false;
  };

  bool Knows(MHD_Connection* connection) const {
    const std::string given = Header(connection, "Authorization"), prefix = "bearer ";
    return given.size() == prefix.size() + token.size() &&
           Lower(given.substr(0, prefix.size())) == prefix &&
           ::sodium_memcmp(given.data() + prefix.size(), token.data(), token.size()) == 0;
  }

  void Update() {
    // A run that goes on cuts its lines to its checkpoint: counted anew.
    std::error_code none;
    if (const auto size = std::filesystem::file_size(dir.metrics(), none);
        !none && size < metrics.offset()) {
      gauges = {};
      metrics = Tail(dir.metrics(), 0);
      audit = Tail(dir.audit(), 0);
    }
    for (auto lines = metrics.Next(); !lines.empty(); lines = metrics.Next()) {
      for (const auto& line : lines) gauges.AddMetrics(ParseJson(line));
    }
    for (auto lines = audit.Next(); !lines.empty(); lines = audit.Next()) {
      for (const auto& line : lines) gauges.AddAudit(ParseJson(line));
    }
  }

  std::string Data() {
    // Where the events go on from, after the last whole line; taken first, so that none is missed.
    // A round that comes twice the page knows by its number; of the audit no more is read.
    const auto end = [](const std::filesystem::path& path) {
      Tail lines(path, 0);
      while (!lines.Next().empty()) {
      }
      return lines.offset();
    };
    const uint64_t metrics_at = end(dir.metrics()), audit_at = end(dir.audit());
    Json data = {{"live", true},
                 {"next", fmt::format("{}-{}", metrics_at, audit_at)},
                 {"runs", Json::array({RunData(dir, {.audit_end = audit_at})})}};
    return data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  // Fills `stream.out` with what is new.
  static void Look(Stream& stream) {
    const RunDir& dir = stream.state.dir;
    // Each event tells the place after its own line: who loses the stream goes on right there.
    const auto tell = [&](Tail& tail, const char* kind, const auto& place) {
      const auto lines = tail.Next();
      uint64_t at = tail.offset();
      for (const auto& line : lines) at -= line.size() + 1;
      for (const auto& line : lines) {
        at += line.size() + 1;
        stream.out += Event(kind, line, place(at));
      }
    };
    tell(stream.metrics, "metrics",
         [&](uint64_t at) { return fmt::format("{}-{}", at, stream.audit.offset()); });
    tell(stream.audit, "audit",
         [&](uint64_t at) { return fmt::format("{}-{}", stream.metrics.offset(), at); });
    for (const char* name : kParts) {
      const std::string time = TimeOf(dir.page() / (std::string(name) + ".json"));
      if (auto& known = stream.parts[name]; !time.empty() && known != time) {
        known = time;
        stream.out += Event("part", Json(name).dump(), "");
      }
    }
    if (const std::string time = TimeOf(dir.summary()); !time.empty()) {
      if (auto& known = stream.parts["summary"]; known != time) {
        known = time;
        try {
          const Bytes bytes = ReadFile(dir.summary(), 1 << 20);
          const Json summary = ParseJson(bytes);
          if (summary.is_object()) stream.out += Event("summary", summary.dump(), "");
        } catch (const Error&) {
          known.clear();
        }
      }
    }
  }

  // Waits for news, or for the next heartbeat, in the connection's own thread.
  static ssize_t Read(void* own, uint64_t, char* buffer, size_t room) try {
    auto& stream = *static_cast<Stream*>(own);
    const auto until = Clock::now() + kHeartbeat;
    while (stream.out.empty()) {
      const bool ending = stream.state.ending;
      Look(stream);
      if (!stream.out.empty()) break;
      if (ending) {
        if (stream.told_end) return MHD_CONTENT_READER_END_OF_STREAM;
        stream.told_end = true;
        stream.out = Event("end", "null", "");
        break;
      }
      if (Clock::now() > until) {
        stream.out = ": still here\n\n";
        break;
      }
      std::this_thread::sleep_for(kLook);
    }
    const size_t size = std::min(room, stream.out.size());
    std::copy_n(stream.out.data(), size, buffer);
    stream.out.erase(0, size);
    return static_cast<ssize_t>(size);
  } catch (const std::exception&) {  // no memory: this listener is lost, not the run
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }

  MHD_Result Events(MHD_Connection* connection) {
    const char* given = ::MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "from");
    unsigned long long metrics_at = 0, audit_at = 0;
    if (given != nullptr && std::sscanf(given, "%20llu-%20llu", &metrics_at, &audit_at) != 2) {
      return SendText(connection, MHD_HTTP_BAD_REQUEST, "from: not where /data ended\n",
                      "text/plain; charset=utf-8");
    }
    auto stream = std::make_unique<Stream>(Stream{.state = *this,
                                                  .metrics = Tail(dir.metrics(), metrics_at),
                                                  .audit = Tail(dir.audit(), audit_at)});
    MHD_Response* response = ::MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, 64 << 10, &State::Read, stream.get(),
        [](void* own) { std::unique_ptr<Stream>(static_cast<Stream*>(own)).reset(); });
    if (response == nullptr) return MHD_NO;
    stream.release();  // the response's, until its connection ends
    return Send(connection, MHD_HTTP_OK, response, "text/event-stream");
  }

  MHD_Result Answer(MHD_Connection* connection, const std::string& url, const std::string& method) {
    constexpr const char* kPlain = "text/plain; charset=utf-8";
    constexpr const char* kJson = "application/json";
    if (Count(connection, "host") > 1) {
      return SendText(connection, MHD_HTTP_BAD_REQUEST, "one Host\n", kPlain);
    }
    // A name that somebody else points at this machine is not ours.
    if (std::find(hosts.begin(), hosts.end(), Lower(Header(connection, "Host"))) == hosts.end()) {
      return SendText(connection, MHD_HTTP_MISDIRECTED_REQUEST, "not the name of this server\n",
                      kPlain);
    }
    if (method != "GET" && method != "HEAD") {
      return SendText(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD alone\n", kPlain);
    }
    if (url == "/")
      return SendText(connection, MHD_HTTP_OK, LivePage(), "text/html; charset=utf-8");
    if (url == "/health") return SendText(connection, MHD_HTTP_OK, "{\"status\":\"ok\"}\n", kJson);
    if (!Knows(connection)) {
      return SendText(connection, MHD_HTTP_UNAUTHORIZED, "the token is missing or wrong\n", kPlain);
    }
    if (url == "/data") return SendText(connection, MHD_HTTP_OK, Data(), kJson);
    if (url == "/events") return Events(connection);
    if (url == "/metrics") {
      const std::lock_guard lock(mutex);
      Update();
      return SendText(connection, MHD_HTTP_OK, gauges.ToText(),
                      "text/plain; version=0.0.4; charset=utf-8");
    }
    for (const char* name : kParts) {
      if (url != std::string("/part/") + name) continue;
      const auto path = dir.page() / (std::string(name) + ".json");
      const Bytes bytes = FileExists(path) ? ReadFile(path, 64 << 20) : Bytes{'n', 'u', 'l', 'l'};
      return SendText(connection, MHD_HTTP_OK,
                      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kJson);
    }
    return SendText(connection, MHD_HTTP_NOT_FOUND, "nothing is there\n", kPlain);
  }

  static MHD_Result Handle(void* own, MHD_Connection* connection, const char* url,
                           const char* method, const char*, const char*, size_t* upload,
                           void** seen) {
    static int mark;
    const std::string_view asked = method;
    if (*seen == nullptr && (asked == "GET" || asked == "HEAD")) {  // the head alone has come
      *seen = &mark;
      return MHD_YES;
    }
    if (*seen != nullptr && *upload > 0) return MHD_NO;  // nobody has anything to tell us
    try {
      return static_cast<State*>(own)->Answer(connection, url, method);
    } catch (const std::exception& error) {
      return SendText(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "could not be read\n",
                      "text/plain; charset=utf-8");
    }
  }
};

Dashboard::Dashboard(const DashboardOptions& options, const RunDir& dir)
    : state_(std::make_unique<State>(dir)) {
  const Address asked = ParseAddress(options.listen);
  const Listening socket = ListenForBrowsers(asked);
  const uint16_t port = socket.port;
  loopback_ = socket.loopback;
  address_ = FormatAddress({asked.host, port});
  state_->token = options.token.empty() ? DrawToken() : options.token;
  std::vector<std::string> names = {asked.host};
  if (loopback_) names.insert(names.end(), {"127.0.0.1", "localhost", "::1"});
  for (const auto& name : names) {
    state_->hosts.push_back(Lower(FormatAddress({name, port})));
    // Browsers leave HTTP's own port out.
    const std::string& whole = state_->hosts.back();
    if (port == 80) state_->hosts.push_back(whole.substr(0, whole.rfind(':')));
  }
  state_->daemon = ::MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, port, nullptr,
      nullptr, &State::Handle, state_.get(), MHD_OPTION_LISTEN_SOCKET, socket.fd,
      MHD_OPTION_CONNECTION_LIMIT, kMostConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
      kMostOfOneAddress, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMostRequest + (64 << 10), MHD_OPTION_END);
  if (state_->daemon == nullptr) {
    ::close(socket.fd);
    throw NetworkError("--dashboard {}: the server does not start", address_);
  }
}

Dashboard::~Dashboard() {
  state_->ending = true;
  // Listeners look a few times a second: they have the summary and the end before they are cut.
  for (int tries = 0; tries < 10; ++tries) {
    const MHD_DaemonInfo* info =
        ::MHD_get_daemon_info(state_->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    if (info == nullptr || info->num_connections == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::MHD_stop_daemon(state_->daemon);
}

std::string Dashboard::Url() const {
  return fmt::format("http://{}/#token={}", address_, state_->token);
}

}  // namespace kindred
