#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
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

}  // namespace

void StartLog() {
  auto logger = spdlog::stderr_color_mt("kindred");
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelMark>('*').set_pattern("kindred: %^%*%$%v");
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

void LogAlsoTo(const std::filesystem::path& path) {
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
    file->set_pattern("%Y-%m-%d %H:%M:%S %l %v");
    spdlog::default_logger()->sinks().push_back(std::move(file));
    spdlog::default_logger()->flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex& error) {
    spdlog::warn("no log file: {}", error.what());
  }
}

}  // namespace kindred
