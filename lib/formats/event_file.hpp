// Writes event files, which TensorBoard displays while they grow: TFRecords of the message tensorflow.Event. Sources:
// tensorboard/compat/proto/event.proto and summary.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace chexbench::formats {

// One value of a curve.
struct Scalar {
  std::string tag;  // the curve, "loss/training"; curves are grouped by the part before the slash
  double value = 0;
};

// Each returns the bytes of an Event, without their frame. Pure.
// The first one of a file: the version of the format.
std::vector<std::byte> version_event(double unix_s);
// Marks that the program begins at `step`: readers drop this step and later ones from the folder's earlier files.
std::vector<std::byte> start_event(double unix_s, std::int64_t step);
// Bytes of a tag that are not UTF-8, and control characters, become \xNN: protobuf refuses the whole message otherwise.
std::vector<std::byte> scalars_event(double unix_s, std::int64_t step, std::span<const Scalar> scalars);

// A new event file. Not thread-safe. @throws OutputError from every function, with the path and the system's reason;
// the file then ends with the last complete record.
class EventFile {
 public:
  // Creates `folder`, and in it the file events.out.tfevents.SECONDS.HOST, which begins at `first_step`. Existing files
  // are never written to: a resumed program begins a new one, and readers sort them by name.
  EventFile(const std::string& folder, const std::string& host, double unix_s, std::int64_t first_step);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // Keeps the values in memory until write().
  void add(double unix_s, std::int64_t step, std::span<const Scalar> scalars);
  void write();
  // Does the same, and does not return before the values are on storage.
  void sync();

 private:
  void append(std::span<const std::byte> event);
  [[noreturn]] void fail(const char* action);

  std::string path_;
  int descriptor_ = -1;
  std::int64_t written_ = 0;        // bytes of the file that are complete records
  std::vector<std::byte> pending_;  // records that are not in the file yet
};

}  // namespace chexbench::formats
