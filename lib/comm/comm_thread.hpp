// The one thread of a process that talks to other ranks. It knows nothing of MPI: operations are polled until they
// are complete, and between polls the thread sleeps the longer, the longer nothing has moved.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace chexbench::comm {

// What a poll found: nothing new, a part of the operation came about, or it is complete.
enum class Progress { waiting, moved, done };

// The first call begins the operation. Called on the comm thread alone; must not block. An exception ends it.
using Poll = std::function<Progress()>;

// SIGINT or SIGTERM ends an operation: ranks that a signal reached no longer take part, and the others would wait for
// ever. Or it does not, where all ranks are sure to come.
enum class OnSignal { end, go_on };

struct Operation {
  // Operations of one lane run one after the other in the order of submission; those of different lanes side by side.
  // No operation ever holds up another lane: ranks may submit to different lanes in different orders.
  const void* lane = nullptr;
  double longest_nap_s = 0;  // between two polls
  Poll poll;
  OnSignal on_signal = OnSignal::end;
  std::function<void(std::exception_ptr)> done;  // called once on the comm thread, null where all went well
};

// Thread-safe. Operations that are not complete when it is destroyed are dropped; their `done` is not called.
class CommThread {
 public:
  CommThread();
  ~CommThread();
  CommThread(const CommThread&) = delete;
  CommThread& operator=(const CommThread&) = delete;

  // Returns at once.
  void submit(Operation operation);
  // Waits until `poll` has said done. @throws what poll threw, InterruptedError where a signal ended it
  void run(const void* lane, double longest_nap_s, Poll poll, OnSignal on_signal = OnSignal::end);
  // Runs `action` in its turn of the lane, even after a signal, and waits for it. @throws what it threw
  void run(const void* lane, const std::function<void()>& action);
  // Stops the thread for ever, wherever it is, within a call of a library too: the process can only exit from then on,
  // and must not allocate memory before that, whose locks the thread may hold.
  void freeze();

 private:
  void run(Operation operation);
  void work();
  // Moves what may begin from `pending_` to `active`. Waits for something where nothing is active; false: stop.
  bool take(std::vector<Operation>& active);
  void nap(const std::vector<Operation>& active, double idle_s);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> pending_;
  bool stopping_ = false;
  std::thread thread_;
};

// How long to sleep before the next poll, `idle_s` seconds after something last moved; 0: only let others run.
// Data in flight moves only while ranks poll, so an operation that is under way is polled without sleeping; one whose
// ranks are late is polled ever more seldom, at a cost of 5 % of the time waited.
double nap_after_s(double idle_s, double longest_nap_s);

}  // namespace chexbench::comm
