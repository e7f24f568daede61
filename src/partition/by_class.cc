#include "partition/by_class.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"

namespace kindred {
namespace {

// Gives every client its classes' images; a class on several clients is shuffled and cut evenly.
Partition DealImages(const PartitionInput& input, const std::vector<std::vector<int>>& hands) {
  std::vector<std::vector<int>> owners(static_cast<size_t>(input.classes));
  for (size_t c = 0; c < hands.size(); ++c) {
    for (const int l : hands[c]) owners[static_cast<size_t>(l)].push_back(static_cast<int>(c));
  }
  std::vector<std::vector<int>> members(owners.size());
  for (int i = 0; i < input.images; ++i) {
    members[static_cast<size_t>(input.labels[static_cast<size_t>(i)])].push_back(i);
  }
  std::vector<std::vector<int>> dealt(hands.size());
  for (size_t l = 0; l < members.size(); ++l) {
    // Sample 0 is the dealing of classes; class l shuffles with its own stream.
    Rng rng({.seed = input.options.seed, .purpose = Purpose::kPartition, .sample = l + 1});
    rng.Shuffle(std::span(members[l]));
    for (size_t i = 0; i < members[l].size(); ++i) {
      dealt[static_cast<size_t>(owners[l][i % owners[l].size()])].push_back(members[l][i]);
    }
  }
  return {.clients = std::move(dealt)};
}

}  // namespace

std::vector<std::vector<int>> DealClasses(int classes, int clients, int per_client, uint64_t seed) {
  Check(per_client <= classes && clients * per_client % classes == 0, "classes cannot be dealt");
  Rng rng({.seed = seed, .purpose = Purpose::kPartition});
  std::vector<std::vector<int>> hands(static_cast<size_t>(clients));
  std::vector<int> deck;  // one shuffled copy of every class at a time
  for (auto& hand : hands) {
    while (static_cast<int>(hand.size()) < per_client) {
      if (deck.empty()) {
        deck = rng.Permutation(classes);
        // A hand that needs cards of two decks takes none twice: those it holds go to the bottom.
        std::stable_partition(deck.begin(), deck.end(), [&](int l) {
          return std::find(hand.begin(), hand.end(), l) != hand.end();
        });
      }
      hand.push_back(deck.back());
      deck.pop_back();
    }
  }
  return hands;
}

Partition DealNonIid1(const PartitionInput& input) {
  const int clients = input.options.clients > 0 ? input.options.clients : 5;
  const int given = input.options.classes_per_client;
  const int each = given > 0 ? given : input.classes / clients;
  if (each == 0 || int64_t{each} * clients != input.classes) {
    throw UsageError(
        "partition noniid1: {} classes cannot be dealt to {} clients with {} each and none shared; "
        "clients x classes_per_client must be {}",
        input.classes, clients, given > 0 ? fmt::format("{}", given) : "equally many",
        input.classes);
  }
  return DealImages(input, DealClasses(input.classes, clients, each, input.options.seed));
}

Partition DealOneClass(const PartitionInput& input) {
  const PartitionOptions& options = input.options;
  if ((options.clients > 0 && options.clients != input.classes) || options.classes_per_client > 1) {
    throw UsageError(
        "partition oneclass: there is one client for each of the {} classes; leave out "
        "partition.clients and partition.classes_per_client, or take noniid1",
        input.classes);
  }
  PartitionInput one = input;
  one.options.clients = input.classes;
  return DealNonIid1(one);
}

Partition DealNonIid2(const PartitionInput& input) {
  const int clients = input.options.clients > 0 ? input.options.clients : 10;
  const int given = input.options.classes_per_client;
  const int each = given > 0 ? given : 2 * input.classes / clients;
  const int64_t slots = int64_t{clients} * each;
  if (each == 0 || each > input.classes || slots % input.classes != 0 ||
      (given == 0 && slots != 2 * input.classes)) {
    throw UsageError(
        "partition noniid2: {} classes cannot be dealt to {} clients with {} each and equally "
        "often; "
        "clients x classes_per_client must be a multiple of {}",
        input.classes, clients, given > 0 ? fmt::format("{}", given) : "equally many",
        input.classes);
  }
  return DealImages(input, DealClasses(input.classes, clients, each, input.options.seed));
}

}  // namespace kindred
