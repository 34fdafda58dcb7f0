// forecast_memory(): how much memory the ops of a list hold, when they are full and when they are starved.
#include <fmt/format.h>

#include <cmath>

#include "pipeline/builder.hpp"

namespace chexbench::pipeline {
namespace {

// The buffers of a decoding thread, in bytes, for the largest X-ray of NIH (RGBA, 1024 x 1024): its filtered rows, one
// channel of them, the pixels of three channels, and the state of inflate; for rgb also the interleaved pixels. The
// file itself (once as stored, once with its image data joined) is not included.
double decoder_bytes(const spec::DataSpec& data) {
  constexpr double kGrayBytes = 4.2e6 + 1.05e6 + 3 * 1.2e6 + 0.1e6, kJoinedBytes = 3 * 1.05e6;
  return spec::color_of(data) == spec::Color::rgb ? kGrayBytes + kJoinedBytes : kGrayBytes;
}

// The anonymous memory of one record. It is 0 for handles and for views into mapped files. Records of compressed shards
// or of shards that are not mapped, and files of a distant store, are copies in memory.
double record_bytes(const dataset::Dataset& dataset) {
  const bool is_view = spec::reads_shards(dataset.format) ? dataset.store->gives_views() && !dataset.compressed
                                                          : !dataset.store->is_distant();
  if (is_view || dataset.images.empty()) return 0;
  return static_cast<double>(dataset.total_bytes) / static_cast<double>(dataset.images.size());
}

double element_bytes(const Op& op) {
  const BatchShape& shape = op.context().shape;
  if (op.kind() == spec::ElementKind::record) return record_bytes(op.context().dataset);
  if (op.kind() == spec::ElementKind::example) return static_cast<double>(shape.image_bytes());
  if (op.kind() == spec::ElementKind::batch) return static_cast<double>(shape.bytes());
  return 0;
}

double mean_file_bytes(const dataset::Dataset& dataset) {
  if (dataset.format != spec::DataFormat::images || dataset.images.empty()) return 0;
  return static_cast<double>(dataset.total_bytes) / static_cast<double>(dataset.images.size());
}

struct Count {
  double full = 0;
  double starved = 0;
};
Count always(double count) { return {count, count}; }

class Lines {
 public:
  void add(const std::string& op, Count count, const char* what, double bytes_each) {
    if (count.full <= 0 || bytes_each <= 0) return;
    const MemoryForecast::Bytes bytes{.full = static_cast<std::uint64_t>(count.full * bytes_each),
                                      .starved = static_cast<std::uint64_t>(count.starved * bytes_each)};
    forecast_.lines.push_back({op, fmt::format("{:.0f} {} x {:.2f} MB", count.full, what, bytes_each * 1e-6), bytes});
    forecast_.total.full += bytes.full;
    forecast_.total.starved += bytes.starved;
  }
  MemoryForecast take() { return std::move(forecast_); }

 private:
  MemoryForecast forecast_;
};

}  // namespace

MemoryForecast forecast_memory(const PipelineContext& context) {
  Lines lines;
  const auto batch_bytes = static_cast<double>(context.shape.bytes());
  if (context.data.format == spec::DataFormat::ready) {
    lines.add("ready", always(static_cast<double>(kLeasesOut)), "batches", batch_bytes);
    return lines.take();
  }
  Resources resources(context);
  for (const auto& op : build_ops(resources)) {
    const char* const what = op->kind() == spec::ElementKind::batch    ? "batches"
                             : op->kind() == spec::ElementKind::record ? "records"
                                                                       : "decoded images";
    lines.add(op->name(), {std::ceil(op->held_elements()), std::ceil(op->starved_elements())}, what,
              element_bytes(*op));
    lines.add(op->name(), always(1), "set of copies", op->copied_bytes());
    lines.add(op->name(), always(static_cast<double>(op->decoding_threads())), "decoders",
              decoder_bytes(context.data) + 2 * mean_file_bytes(context.dataset));
  }
  lines.add("delivered", {.full = 1, .starved = 0}, "batches", batch_bytes);
  return lines.take();
}

}  // namespace chexbench::pipeline
