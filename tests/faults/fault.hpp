// Which call of this process fails: the FAULT_AT-th of the class FAULT_CLASS, or with FAULT_KIND=always all from that
// one on. A sync fails with FAULT_ERRNO, EIO if that is not set. Calls are counted from the beginning of main() on, in
// the rank FAULT_RANK only if that is set. Each failed call, with its caller, is a line of the file FAULT_LOG.
#pragma once

#include <string>

namespace faults {

enum class Class {
  open,
  system_open,
  read,
  short_read,
  write,
  short_write,
  sync,
  rename,
  close,
  mmap,
  malloc,
  thread,
  connect,
  mpi,
  mpi_poll
};

// Whether this process fails calls of that class: cheap, and false before main().
bool is_chosen(Class kind);

// Counts a call of the chosen class; whether it must fail. Keeps errno.
bool must_fail(const char* function);

// The errno of a sync that fails.
int sync_reason();

}  // namespace faults
