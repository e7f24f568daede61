#include "report/prometheus.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(RunGauges, SumUpAndKeepTheLast) {
  RunGauges gauges;
  gauges.AddMetrics({{"kind", "knn"}, {"round", 0}, {"knn", 0.25}});
  for (int round = 1; round <= 3; ++round) {
    gauges.AddMetrics({{"kind", "round"}, {"round", round}, {"loss", 4 - round}, {"bytes_up", 10}});
  }
  gauges.AddMetrics("not a line");
  gauges.AddAudit({{"event", "refuse"}, {"reason", "no\"rm\n"}});
  gauges.AddAudit({{"event", "refuse"}, {"reason", 7}});
  gauges.AddAudit({{"event", "miss"}, {"more", 40}});               // what a flood left out
  gauges.AddAudit(Json::parse("{\"event\":\"mi", nullptr, false));  // cut short
  const std::string text = gauges.ToText();
  for (const char* line :
       {"kindred_round 3\n", "kindred_bytes_up_total 30\n", "kindred_knn 0.25\n",
        "kindred_last_loss 1\n", "kindred_events_total{event=\"refuse\"} 2\n",
        "kindred_events_total{event=\"miss\"} 40\n", "kindred_unreadable_lines_total 2\n",
        "kindred_refused_total{reason=\"no_rm_\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace kindred
