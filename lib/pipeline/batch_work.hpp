// Shared by map_and_batch and worker_batches: workers that fill the slots of a BatchLine.
#pragma once

#include <functional>
#include <optional>

#include "pipeline/batch_line.hpp"
#include "pipeline/image_loader.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline {

struct BatchWork {
  std::size_t batches = 1;          // batches that are being filled or wait to be taken, at most
  std::size_t records_at_once = 1;  // records that a worker takes from the input each time
  bool drop_remainder = true;       // an incomplete last batch is not delivered
};

// Delivers batches that the workers of `pool` fill with the records that `take` yields. Destroying it stops the workers
// and waits for them. One caller thread, as for every Iterator.
class BatchWorkIterator final : public Iterator {
 public:
  // Moves the next record into its argument; returns false at the end. Only one thread at a time calls it.
  using Take = std::function<bool(Element&)>;
  // Makes a Take whose input ends when the given token is stopped, which happens at the latest when this iterator is
  // destroyed.
  using MakeTake = std::function<Take(const std::stop_token&)>;

  BatchWorkIterator(Op& op, const MakeTake& make_take, const BatchWork& work, LoaderSet& loaders, ThreadPool& pool,
                    const std::stop_token& stop);
  ~BatchWorkIterator() override;

 private:
  struct Task {
    Element record;
    BatchSlot slot;
  };

  bool produce(Element& out) override;
  void work(std::size_t worker);
  void take_tasks(std::vector<Task>& tasks);
  bool take_task(Task& task);
  void fill(const Task& task, std::size_t worker);
  bool load(const Task& task, std::size_t worker);

  const BatchWork work_;
  LoaderSet& loaders_;
  ChainedStop chain_;
  Turnstile turnstile_;
  BatchLine line_;
  const Take take_;
  std::optional<Crew> crew_;
};

// The largest number of batches that are begun but not finished if each of `workers` works on one image.
std::size_t batches_in_making(const BatchWork& work, std::size_t workers, int images_per_batch);
// `batches`, plus one if bad records are skipped: filling up a batch with holes needs the batch that follows it.
std::size_t batches_in_work(const Op& op, std::size_t batches);

}  // namespace chexbench::pipeline
