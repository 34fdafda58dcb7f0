// Which file system a data set is on, how it stripes files, and how much of the set is already in the page cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/page_cache.hpp"
#include "measure/system_files.hpp"

namespace chexbench::measure {

// The kind of a file system, as far as it matters for measurements. `fuse` includes virtiofs; `unknown` means that no
// mount was found. Every type of a mount that is not recognized counts as local.
enum class FileSystemKind { unknown, local, network, fuse, overlay, memory };

std::string to_string(FileSystemKind kind);

struct FileSystem {
  FileSystemKind kind = FileSystemKind::unknown;
  std::string type;         // "ext4", "nfs4", "fuse.sshfs"
  std::string source;       // "/dev/sda1", "server:/export"
  std::string mount_point;  // as this process sees it
};

// Returns the deepest mount above `path`, after resolving links, from /proc/self/mountinfo. If that lists none, as in a
// chroot whose root is not a mount point, returns the type by statfs, which cannot distinguish FUSE file systems,
// without source and mount point. Returns empty texts and kind unknown if that fails, too. Thread-safe.
FileSystem find_file_system(const std::string& path, const SystemRoots& roots = {});

// How a file, or a part of it, is spread: `chunk_bytes` on one storage target after another, of `targets`.
struct Stripe {
  std::optional<int> targets;  // -1: all of them; not set if the tool does not report it
  std::uint64_t chunk_bytes = 0;
  friend bool operator==(const Stripe&, const Stripe&) = default;
};

struct Striping {
  std::string system;           // "Lustre", "GPFS", "BeeGFS"
  std::string tool;             // "lfs getstripe", the command that was run
  std::vector<Stripe> stripes;  // of new files of the folder; several if the layout depends on the position in a file
  std::string problem;          // why there are none, a clause
};

// Returns "one target, then 1024 KiB on each of 4 targets, round-robin"; empty if there are no stripes.
std::string stripes_text(const Striping& striping);

// Asks lfs, mmlsfs or beegfs-ctl (of BeeGFS 8: beegfs), which may take `patience_s` each, about the folder `path` on
// `system`. Returns std::nullopt if that is not Lustre, GPFS or BeeGFS. Runs a program for each question. Thread-safe.
std::optional<Striping> find_striping(const FileSystem& system, const std::string& path, double patience_s = 5);

// The folder `root`, its file system, and the page cache share of a sample of its files.
struct DataPlace {
  std::string root;
  FileSystem file_system;
  CachedShare sample;                // a sample of files spread evenly over the folder
  std::optional<Striping> striping;  // set on a parallel file system, if the caller queried its tool

  // Returns "cold" (below 5 % cached), "warm" (above 95 %) or "partly cached"; or "not known" if there are no files
  // or the kernel does not report what is cached.
  std::string cache_word() const;
  // Returns the cached share of the sample's bytes, from 0 to 1; 0 for an empty sample.
  double cached_share() const;
};

// Looks at up to 64 of the files below `root`, spread evenly over their sorted list. Visits at most 100,000 directory
// entries and takes milliseconds. Opens files but reads none of their contents. Thread-safe.
// @throws DataError if `root` is not a folder
DataPlace look_at_data(const std::string& root, const SystemRoots& roots = {});

}  // namespace chexbench::measure
