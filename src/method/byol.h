// FedBYOL: predicting a slow copy of oneself (Grill et al. 2020) on each client, averaged.
#pragma once

#include <memory>

#include "method/byol_options.h"
#include "method/method.h"
#include "method/round_numbers.h"
#include "model/network.h"

namespace kindred {

// Shared: the online network "encoder/...", "projector/..." and "predictor/...". Kept: the target
// network "target/...", which begins as the online network that a client is first sent.
class Byol : public Method {
 public:
  explicit Byol(const MethodContext& context);

  NamedTensors Shared() const override;
  std::string EncoderPrefix() const override { return "encoder"; }
  std::vector<at::Tensor> Trained() const override;
  NamedTensors NewLocalState() const override { return {}; }
  bool NormsFeatures() const override { return true; }
  void BeginRound(const RoundStart& start, NamedTensors& local) override;
  at::Tensor Loss(const Batch& batch, NamedTensors& local) override;
  void AfterStep(NamedTensors& local) override;
  Metrics EndRound(NamedTensors& local) override;

 protected:
  RoundNumbers numbers_;  // of the round under way

 private:
  double momentum_;
  Network online_, target_;
  Projector predictor_;
};

std::unique_ptr<Method> MakeByol(const MethodContext& context);

}  // namespace kindred
