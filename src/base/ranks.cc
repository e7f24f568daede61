#include "base/ranks.h"

#include <cstdlib>

#include "base/error.h"

namespace kindred {
namespace {

class Alone final : public Ranks {
 public:
  int Rank() const override { return 0; }
  int Size() const override { return 1; }
  void Sum(std::span<uint64_t>, std::span<uint64_t>) override {}
  void Max(std::span<int64_t>) override {}
  std::vector<Bytes> Gather(const Bytes& own) override { return {own}; }
  void Broadcast(Bytes&) override {}
  void Meet() override {}
  void Send(int, const Bytes&) override { Check(false, "there is no other rank"); }
  Bytes Receive(int) override {
    Check(false, "there is no other rank");
    return {};
  }
  [[noreturn]] void Abort(int code) override { std::exit(code); }
};

}  // namespace

std::unique_ptr<Ranks> OneRank() { return std::make_unique<Alone>(); }

}  // namespace kindred
