// The processes that share the clients of a run, of which this is one. Rank 0 leads: it runs the
// rounds and writes the run's files.
#pragma once

#include <vector>

#include "base/file.h"

namespace kindred {

// What the ranks say to each other. All but Send and Receive are called by every rank, in the same
// order, by one thread. A rank that is lost ends them all.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int Rank() const = 0;
  virtual int Size() const = 0;
  bool Leads() const { return Rank() == 0; }

  // Rank 0 gets the bytes of all, in the order of ranks; the others nothing.
  virtual std::vector<Bytes> Gather(const Bytes& own) = 0;
  // Rank 0's bytes become everybody's.
  virtual void Broadcast(Bytes& bytes) = 0;
  // Returns when all are here.
  virtual void Meet() = 0;

  // From one rank to another, in the order in which they were sent.
  virtual void Send(int to, const Bytes& bytes) = 0;
  virtual Bytes Receive(int from) = 0;

  // Ends every rank with this exit code; never returns.
  [[noreturn]] virtual void Abort(int code) = 0;

  // Seconds spent so far: on the way, and waiting for the slowest.
  virtual double Talking() const = 0;
  virtual double Waiting() const = 0;
};

}  // namespace kindred
