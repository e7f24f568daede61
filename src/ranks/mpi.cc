#include "ranks/mpi.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

#ifdef KINDRED_MPI
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#endif

namespace kindred {
namespace {

// What launchers tell the processes they start: Open MPI's, PMIx (srun --mpi=pmix), PMI-1 and 2.
bool StartedByLauncher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

#ifdef KINDRED_MPI

constexpr uint64_t kMostBytes = 1ull << 28;  // in a message: MPI counts in ints

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Errors end the job with MPI's own line: its default, and what a lost rank comes to.
class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    Check(given >= MPI_THREAD_FUNNELED, "this MPI does not work beside threads");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiRanks() override { MPI_Finalize(); }

  int Rank() const override { return rank_; }
  int Size() const override { return size_; }
  double Talking() const override { return talking_; }
  double Waiting() const override { return waiting_; }

  std::vector<Bytes> Gather(const Bytes& own) override {
    const Stopwatch watch(talking_);
    const uint64_t size = own.size();
    std::vector<uint64_t> sizes(static_cast<size_t>(size_));
    MPI_Allgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<Bytes> all(Leads() ? sizes.size() : 0);
    const uint64_t step = kMostBytes / sizes.size();  // of each rank at a time
    const uint64_t most = *std::max_element(sizes.begin(), sizes.end());
    for (uint64_t from = 0; from < most; from += step) {
      std::vector<int> counts, places;
      int total = 0;
      for (const uint64_t each : sizes) {
        counts.push_back(static_cast<int>(each > from ? std::min(step, each - from) : 0));
        places.push_back(total);
        total += counts.back();
      }
      Bytes here(Leads() ? static_cast<size_t>(total) : 0);
      MPI_Gatherv(own.data() + std::min(from, size), counts[static_cast<size_t>(rank_)], MPI_BYTE,
                  here.data(), counts.data(), places.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
      for (size_t r = 0; r < all.size(); ++r) {
        all[r].insert(all[r].end(), here.begin() + places[r], here.begin() + places[r] + counts[r]);
      }
    }
    return all;
  }

  void Broadcast(Bytes& bytes) override {
    const Stopwatch watch(talking_);
    uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bytes.resize(size);
    for (uint64_t from = 0; from < size; from += kMostBytes) {
      MPI_Bcast(bytes.data() + from, static_cast<int>(std::min(kMostBytes, size - from)), MPI_BYTE,
                0, MPI_COMM_WORLD);
    }
  }

  void Meet() override {
    const Stopwatch watch(waiting_);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void Send(int to, const Bytes& bytes) override {
    const Stopwatch watch(talking_);
    const uint64_t size = bytes.size();
    MPI_Send(&size, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
    for (uint64_t from = 0; from < size; from += kMostBytes) {
      MPI_Send(bytes.data() + from, static_cast<int>(std::min(kMostBytes, size - from)), MPI_BYTE,
               to, 0, MPI_COMM_WORLD);
    }
  }

  Bytes Receive(int from) override {
    const Stopwatch watch(talking_);
    uint64_t size = 0;
    MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Bytes bytes(size);
    for (uint64_t at = 0; at < size; at += kMostBytes) {
      MPI_Recv(bytes.data() + at, static_cast<int>(std::min(kMostBytes, size - at)), MPI_BYTE, from,
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return bytes;
  }

  [[noreturn]] void Abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);  // MPI does not say that it never returns
  }

 private:
  class Stopwatch {
   public:
    explicit Stopwatch(double& sum) : sum_(sum), start_(Now()) {}
    ~Stopwatch() { sum_ += Now() - start_; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

   private:
    double& sum_;
    double start_;
  };

  int rank_ = 0, size_ = 1;
  double talking_ = 0, waiting_ = 0;
};

#endif

}  // namespace

#ifdef KINDRED_MPI

bool HasMpi() { return true; }

std::unique_ptr<Ranks> OpenRanks() {
  if (!StartedByLauncher()) return nullptr;
  return std::make_unique<MpiRanks>();
}

#else

bool HasMpi() { return false; }

std::unique_ptr<Ranks> OpenRanks() {
  if (!StartedByLauncher()) return nullptr;
  throw UsageError(
      "started by mpirun or srun, but this kindred was built without MPI: each of its processes "
      "would train alone; install libopenmpi-dev and build again, or start it by itself");
}

#endif

}  // namespace kindred
