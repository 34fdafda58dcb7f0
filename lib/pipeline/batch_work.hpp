// What map_and_batch and worker_batches have in common: workers that fill the slots of a BatchLine.
#pragma once

#include <functional>
#include <optional>

#include "pipeline/batch_line.hpp"
#include "pipeline/image_loader.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline {

// How many batches may be worked on or wait, and how many records a worker takes at a time.
struct BatchWork {
  std::size_t batches = 1;
  std::size_t records_at_once = 1;
  bool drop_remainder = true;
};

// Delivers batches that workers of `pool` fill with the records that `take` yields. `take(element)`: the next record or
// false at the end; called by one thread at a time.
class BatchWorkIterator final : public Iterator {
 public:
  using Take = std::function<bool(Element&)>;
  // Makes `take` from a stop that ends with this iterator.
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

// Batches that `workers` with one image each have begun and not finished, at most.
std::size_t batches_in_making(const BatchWork& work, std::size_t workers, int images_per_batch);
// `batches` plus the one more that filling up a batch takes where bad records are skipped.
std::size_t batches_in_work(const Op& op, std::size_t batches);

}  // namespace chexbench::pipeline
