// The one thread of a process that communicates with other ranks. It knows nothing about MPI: it polls operations
// until they are complete. Between polls it sleeps; the longer nothing has moved, the longer it sleeps.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace chexbench::comm {

// The result of a poll: nothing new, a part of the operation completed, or all of it is complete.
enum class Progress { waiting, moved, done };

// One poll of an operation. The first call starts the operation. It is called on the comm thread only and must not
// block. An exception ends the operation.
using Poll = std::function<Progress()>;

// Whether SIGINT or SIGTERM ends an operation. Usually it must, because ranks that a signal reached stop taking part,
// and the others would wait for ever. An operation may go on if all ranks are certain to take part.
enum class OnSignal { end, go_on };

// Work for the comm thread. `done` is called once on the comm thread, unless the CommThread is destroyed first. An
// exception from it ends the thread, so it should not throw.
struct Operation {
  // Operations of the same lane run one after the other in the order of submission; operations of different lanes run
  // side by side and never delay each other. So ranks may submit to different lanes in different orders.
  const void* lane = nullptr;
  double longest_nap_s = 0;  // longest sleep between two polls, in seconds
  Poll poll;
  OnSignal on_signal = OnSignal::end;
  std::function<void(std::exception_ptr)> done;  // gets null if all went well
};

// Owns the thread. Thread-safe. The destructor drops operations that are not complete and does not call their `done`.
class CommThread {
 public:
  CommThread();
  ~CommThread();
  CommThread(const CommThread&) = delete;
  CommThread& operator=(const CommThread&) = delete;

  // Queues the operation and returns at once.
  // @throws the error that ended the thread, if any: out of memory, for example
  void submit(Operation operation);
  // Runs `poll` until it returns Progress::done, and waits for that.
  // @throws any exception of `poll`
  // @throws InterruptedError if a signal ended it
  void run(const void* lane, double longest_nap_s, Poll poll, OnSignal on_signal = OnSignal::end);
  // Runs `action` in the lane's order, even after a signal, and waits for it.
  // @throws any exception of `action`
  void run(const void* lane, const std::function<void()>& action);
  // From now on, the thread calls `duty` between polls and while idle. The duty returns the seconds after which it must
  // be called again. An empty one ends that: once the call returns, the previous duty is not running.
  void attend(std::function<double()> duty);
  // Stops the thread for ever, even inside a library call. After that the process can only exit, and must not
  // allocate memory before it does, because the thread may hold the allocator's locks.
  void freeze();

 private:
  void run(Operation operation);
  void work();
  void poll_until_stopped(std::vector<Operation>& active);
  // Passes the error that ended the thread to all operations, and to those that are submitted later.
  void fail(std::vector<Operation>& active, const std::exception_ptr& error);
  // Moves the operations that may begin from `pending_` to `active`. Waits for one if none is active. Returns false
  // to stop.
  bool take(std::vector<Operation>& active);
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void do_duty(double time_s);
  void nap(const std::vector<Operation>& active, double idle_s);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> pending_;
  bool stopping_ = false;
  std::exception_ptr failed_;
  std::function<double()> duty_;  // used by thread_ only, like the next line
  double duty_due_s_ = 0;
  std::thread thread_;
};

// Returns the seconds to sleep before the next poll, `idle_s` seconds after something last moved; 0 means only to yield
// the CPU. Data in flight moves only while ranks poll, so an active transfer is polled without sleeping. If ranks are
// late, the naps grow to 5 % of the time waited so far; see README.md for the measurements.
double nap_after_s(double idle_s, double longest_nap_s);

}  // namespace chexbench::comm
