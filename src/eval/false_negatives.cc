#include "eval/false_negatives.h"

#include <algorithm>

#include "privacy/mechanism_kinds.h"

namespace kindred {

double PredictedFalseNegatives(const std::vector<std::vector<double>>& shares, int client,
                               double local_rows, const std::vector<double>& remote_rows) {
  const auto& own = shares[static_cast<size_t>(client)];
  double all = local_rows;
  for (const double rows : remote_rows) all += rows;
  if (all == 0) return 0;
  double ratio = 0;
  for (size_t y = 0; y < own.size(); ++y) {
    double same = own[y] * local_rows;
    for (size_t i = 0; i < remote_rows.size(); ++i) same += shares[i][y] * remote_rows[i];
    ratio += own[y] * same / all;
  }
  return ratio;
}

// One client's round.
class LabelObserver : public StepObserver {
 public:
  LabelObserver(FalseNegatives& all, int client, const RemoteFeatures& remote)
      : all_(all),
        client_(client),
        remote_mass_(static_cast<size_t>(all.clients_.classes)),
        remote_rows_(static_cast<size_t>(all.clients_.partition.Clients())) {
    for (const RowOrigin& origin : remote.origins) {
      const auto& rows = all.CompositionsOf(origin.client, origin.round);
      remote_.push_back(&rows[static_cast<size_t>(origin.row)]);
      ++remote_rows_[static_cast<size_t>(origin.client)];
      for (const auto& [label, weight] : *remote_.back()) {
        remote_mass_[static_cast<size_t>(label)] += weight;
      }
    }
  }

  void Step(const Batch& batch, const StepTrace& trace) override {
    const int64_t* bank = trace.bank_samples.data_ptr<int64_t>();
    const int64_t local = trace.local ? trace.bank_samples.size(0) : 0;
    const double weight = trace.remote ? trace.remote_weight : 0;  // of a remote negative
    std::vector<double> mass = remote_mass_, remote = remote_rows_;
    for (double& each : mass) each *= weight;
    for (double& each : remote) each *= weight;
    std::map<int64_t, int> keys;  // a query's own are no negatives of it
    for (int64_t row = 0; row < local; ++row) {
      ++mass[Label(bank[row])];
      ++keys[bank[row]];
    }
    const double all = static_cast<double>(local) + weight * static_cast<double>(remote_.size());
    double ratio = 0;
    int counted = 0;
    for (const int sample : batch.samples) {
      const auto found = keys.find(sample);
      const int own = found == keys.end() ? 0 : found->second;
      if (all <= own) continue;
      ratio += (mass[Label(sample)] - own) / (all - own);
      ++counted;
    }
    if (counted > 0) {
      measured_ += ratio / counted;
      predicted_ +=
          PredictedFalseNegatives(all_.shares_, client_, static_cast<double>(local), remote);
      ++steps_;
    }
    if (trace.neighbors.defined() && trace.neighbors.numel() > 0) SeeNeighbors(batch, trace);
  }

  Metrics End() const override {
    Metrics metrics;
    if (steps_ > 0) {
      metrics["false_negatives"] = measured_ / steps_;
      metrics["false_negatives_predicted"] = predicted_ / steps_;
    }
    if (matched_steps_ > 0) metrics["neighbors_same_class"] = matched_ / matched_steps_;
    return metrics;
  }

 private:
  size_t Label(int64_t sample) const { return static_cast<size_t>(all_.LabelOf(client_, sample)); }

  void SeeNeighbors(const Batch& batch, const StepTrace& trace) {
    const int64_t* candidates = trace.candidates.data_ptr<int64_t>();
    const int64_t* neighbors = trace.neighbors.data_ptr<int64_t>();
    const int64_t* bank = trace.bank_samples.data_ptr<int64_t>();
    const auto remote = static_cast<int64_t>(remote_.size()), n = trace.neighbors.size(1);
    double same = 0;
    for (size_t b = 0; b < batch.samples.size(); ++b) {
      const size_t label = Label(batch.samples[b]);
      for (int64_t j = 0; j < n; ++j) {
        const int64_t row = candidates[neighbors[static_cast<int64_t>(b) * n + j]];
        if (row >= remote) {
          same += Label(bank[row - remote]) == label ? 1 : 0;
          continue;
        }
        for (const auto& [other, weight] : *remote_[static_cast<size_t>(row)]) {
          if (static_cast<size_t>(other) == label) same += weight;
        }
      }
    }
    matched_ += same / static_cast<double>(trace.neighbors.numel());
    ++matched_steps_;
  }

  FalseNegatives& all_;
  int client_;
  std::vector<const FalseNegatives::Composition*> remote_;  // by row of Q_s
  std::vector<double> remote_mass_;                         // by class, of all of Q_s
  std::vector<double> remote_rows_;                         // by client
  double measured_ = 0, predicted_ = 0, matched_ = 0;
  int steps_ = 0, matched_steps_ = 0;
};

FalseNegatives::FalseNegatives(const LabeledClients& clients) : clients_(clients) {
  for (const auto& counts : ClassCounts(clients.partition, clients.data, clients.classes)) {
    double all = 0;
    for (const int count : counts) all += count;
    std::vector<double> shares;
    for (const int count : counts) shares.push_back(count / all);
    shares_.push_back(std::move(shares));
  }
}

int FalseNegatives::LabelOf(int client, int64_t sample) const {
  const auto& own = clients_.partition.clients[static_cast<size_t>(client)];
  return clients_.data.labels[static_cast<size_t>(own[static_cast<size_t>(sample)])];
}

// What the rows are made of is drawn again: it depends on the client's secret and the round alone.
const std::vector<FalseNegatives::Composition>& FalseNegatives::CompositionsOf(int client,
                                                                               int round) {
  const std::lock_guard lock(mutex_);
  auto& rows = made_[{client, round}];
  if (!rows.empty()) return rows;
  // What this client made before is used no more.
  std::erase_if(made_, [&](const auto& entry) {
    return entry.first.first == client && entry.first.second < round;
  });
  const auto images =
      static_cast<int>(clients_.partition.clients[static_cast<size_t>(client)].size());
  const Secret secret = SeededSecret(clients_.seed, client);
  const RowsAsked asked = {.images = images,
                           .count = std::min(clients_.shared, images),
                           .secret = secret,
                           .round = static_cast<uint32_t>(round)};
  for (const Mix& mix : MechanismOf(clients_.privacy).made_of(clients_.privacy, asked)) {
    Composition composition;
    for (size_t i = 0; i < mix.images.size(); ++i) {
      composition.emplace_back(LabelOf(client, mix.images[i]), mix.weights[i]);
    }
    rows.push_back(std::move(composition));
  }
  return rows;
}

std::unique_ptr<StepObserver> FalseNegatives::Observe(int client, const RemoteFeatures& remote) {
  return std::make_unique<LabelObserver>(*this, client, remote);
}

}  // namespace kindred
