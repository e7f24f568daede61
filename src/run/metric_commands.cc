#include "run/metric_commands.h"

namespace kindred {
namespace {

constexpr MetricFlag kSeedFlags[] = {{"--seeds", "eval.seeds", "how many seeds"}};
constexpr MetricFlag kLinearFlags[] = {{"--seeds", "eval.seeds", "how many seeds"},
                                       {"--protocol", "eval.protocol", "fast or moco"}};
constexpr MetricFlag kLabelFlags[] = {{"--seeds", "eval.seeds", "how many seeds"},
                                      {"--labels", "eval.labels", "share of the labels"}};
constexpr MetricFlag kFinetuneFlags[] = {
    {"--seeds", "eval.seeds", "how many seeds"},
    {"--labels", "eval.labels", "share of each client's labels"},
    {"--scratch", "eval.scratch", "from random weights: the FedAvg row", "true"}};

constexpr MetricCommand kCommands[] = {
    {"knn", "the vote of the nearest training images", kSeedFlags},
    {"linear", "a linear classifier on the frozen encoder", kLinearFlags},
    {"semi", "the whole model finetuned on a few labels", kLabelFlags},
    {"finetune", "the whole model finetuned together, with a few labels on each client",
     kFinetuneFlags},
};

}  // namespace

std::span<const MetricCommand> MetricCommands() { return kCommands; }

}  // namespace kindred
