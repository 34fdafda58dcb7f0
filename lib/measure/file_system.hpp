// Finds the file system that a folder is on, and says whether it is local, on a network, or in memory.
#pragma once

#include <string>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// What a file system's type means for measurements. `fuse` includes virtiofs; `unknown` means that no mount was
// found. Every type that is not recognized counts as local.
enum class FileSystemKind { unknown, local, network, fuse, overlay, memory };

std::string to_string(FileSystemKind kind);

struct FileSystem {
  FileSystemKind kind = FileSystemKind::unknown;
  std::string type;         // "ext4", "nfs4", "fuse.sshfs"
  std::string source;       // "/dev/sda1", "server:/export"
  std::string mount_point;  // as this process sees it
};

// Returns the deepest mount above `path`, after resolving links, from /proc/self/mountinfo. statfs would not do: it
// has one magic number for all FUSE file systems. Returns empty texts and kind unknown if the list cannot be read.
// Thread-safe.
FileSystem find_file_system(const std::string& path, const SystemRoots& roots = {});

}  // namespace chexbench::measure
