// Writes result files so that a crash or a full disk never leaves half a file, and a reader never sees one.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace chexbench {

// Replaces the file `path` with `text`: the text goes to a temporary file in the same folder (PATH.PID.tmp), which is
// synced to storage and then renamed. If anything fails, an existing file keeps its contents and the temporary file is
// removed. The folder must exist. A device, a pipe or a symbolic link is written to directly and not replaced, so that
// it stays what it is; such a write is not atomic. Two threads of a process must not write the same path at the same
// time.
// @throws OutputError if the file cannot be written, with the path and the system's reason ("No space left on device")
void write_file_atomically(const std::string& path, std::string_view text);

// Does the same for a text that is too large to be in memory as a whole: `fill` is called once and passes the text,
// piece by piece, to the function that it receives.
// @throws OutputError if the file cannot be written; what `fill` throws passes through, with the temporary file removed
using WritePiece = std::function<void(std::string_view)>;
void write_file_atomically(const std::string& path, const std::function<void(const WritePiece&)>& fill);

// Removes the temporary files in `folder` that killed processes left behind. No process may be writing results there
// meanwhile, since its temporary file would be removed too. Ignores a folder or a file that cannot be read or removed.
void remove_abandoned_files(const std::string& folder);

}  // namespace chexbench
