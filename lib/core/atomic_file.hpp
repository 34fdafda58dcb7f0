// Writing results so that a reader, a crash or a full disk never leaves half a file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace chexbench {

// Replaces `path` by `text` as a whole: written to a temporary file beside it, synced to storage, renamed. An existing
// file is left as it was if anything fails, and no temporary file stays. Folders are not created. A device, a pipe or a
// link stays what it is: it is written to, not replaced.
// @throws OutputError with the path and the system's reason ("No space left on device")
void write_file_atomically(const std::string& path, std::string_view text);

// Likewise of a text that is never in memory as a whole: `fill` hands its pieces to what it is given.
using WritePiece = std::function<void(std::string_view)>;
void write_file_atomically(const std::string& path, const std::function<void(const WritePiece&)>& fill);

// Removes the temporary files in `folder` that killed processes left. Nobody may be writing there meanwhile.
void remove_abandoned_files(const std::string& folder);

}  // namespace chexbench
