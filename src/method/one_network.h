// What methods have in common that train one network, encoder and projector, and share all of it.
#pragma once

#include "method/method.h"
#include "method/round_numbers.h"
#include "model/network.h"

namespace kindred {

// Shared: "encoder/..." and "projector/...", which has a batch norm. A batch needs two images.
class OneNetwork : public Method {
 public:
  explicit OneNetwork(const MethodContext& context);

  NamedTensors Shared() const override { return TensorsOf(*network_); }
  std::string EncoderPrefix() const override { return "encoder"; }
  std::vector<at::Tensor> Trained() const override { return network_->parameters(); }
  NamedTensors NewLocalState() const override { return {}; }
  void BeginRound(const RoundStart&, NamedTensors&) override { numbers_.Begin(); }
  void AfterStep(NamedTensors&) override {}
  Metrics EndRound(NamedTensors&) override { return numbers_.End(); }

 protected:
  Network network_;
  RoundNumbers numbers_;  // of the round under way
};

}  // namespace kindred
