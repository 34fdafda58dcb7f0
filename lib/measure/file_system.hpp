// Finds the file system that a folder is on, and says whether it is local, on a network, or in memory.
#pragma once

#include <string>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// What a file system's type means for measurements. `fuse` includes virtiofs; `unknown` means that no mount was
// found. Every type of a mount that is not recognized counts as local.
enum class FileSystemKind { unknown, local, network, fuse, overlay, memory };

std::string to_string(FileSystemKind kind);

struct FileSystem {
  FileSystemKind kind = FileSystemKind::unknown;
  std::string type;         // "ext4", "nfs4", "fuse.sshfs"
  std::string source;       // "/dev/sda1", "server:/export"
  std::string mount_point;  // as this process sees it
};

// Returns the deepest mount above `path`, after resolving links, from /proc/self/mountinfo. Where that lists none, as
// in a chroot whose root is no mount point, returns the type by statfs, which does not tell one FUSE file system from
// another, without source and mount point. Returns empty texts and kind unknown if that fails, too. Thread-safe.
FileSystem find_file_system(const std::string& path, const SystemRoots& roots = {});

}  // namespace chexbench::measure
