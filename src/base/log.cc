#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>
#include <string>

namespace kindred {
namespace {

// "warning: " and "error: " in front of what needs attention, nothing in front of the rest.
class LevelMark : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    std::string mark;
    if (message.level == spdlog::level::warn) mark = "warning: ";
    if (message.level >= spdlog::level::err) mark = "error: ";
    out.append(mark.data(), mark.data() + mark.size());
  }

  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelMark>();
  }
};

// Where all lines go: stderr, and the files there are. Safe to change while others log.
const std::shared_ptr<spdlog::sinks::dist_sink_mt>& Everywhere() {
  static const auto kSinks = std::make_shared<spdlog::sinks::dist_sink_mt>();
  return kSinks;
}

}  // namespace

void StartLog() {
  auto terminal = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelMark>('*').set_pattern("kindred: %^%*%$%v");
  terminal->set_formatter(std::move(formatter));
  Everywhere()->add_sink(std::move(terminal));
  auto logger = std::make_shared<spdlog::logger>("kindred", Everywhere());
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

LogFile::LogFile(const std::filesystem::path& path) {
  try {
    file_ = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    file_->set_pattern("%Y-%m-%d %H:%M:%S %l %v");
    Everywhere()->add_sink(file_);
  } catch (const spdlog::spdlog_ex& error) {
    file_ = nullptr;
    spdlog::warn("no log file: {}", error.what());
  }
}

LogFile::~LogFile() {
  if (file_) Everywhere()->remove_sink(file_);
}

}  // namespace kindred
