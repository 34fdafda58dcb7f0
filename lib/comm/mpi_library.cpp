#include "comm/mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <list>
#include <sstream>
#include <string>
#include <type_traits>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

// As if the program were linked with the library: LD_PRELOAD and libraries loaded later see the same symbols.
void load() {
  ::setenv("UCX_LOG_FILE", "stderr", 0);  // otherwise UCX, which MPICH uses, writes to standard output
  std::string reasons;
  std::istringstream names(CHEXBENCH_MPI_LIBRARIES);  // empty if the library is linked
  for (std::string name; names >> name;) {
    if (dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  if (reasons.empty()) return;
  throw DeviceError(
      fmt::format("no MPI library can be loaded ({}): install MPICH (on Debian and Ubuntu the package "
                  "mpich, or `pip install mpich`), or name the folder of its library in "
                  "LD_LIBRARY_PATH",
                  reasons));
}

// Open MPI 1.10 has a libmpi.so.12, too.
void refuse_open_mpi() {
  const bool is_linked = std::string_view(CHEXBENCH_MPI_LIBRARIES).empty();
  if (is_linked || dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") == nullptr) return;
  throw DeviceError(
      "the MPI library that was loaded is Open MPI's, and this build is for those that have MPICH's ABI: name the "
      "folder of one of them in LD_LIBRARY_PATH, or build with Open MPI");
}

struct Symbol {
  void* address;
  template <typename Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

// Not from the library's handle alone, because tools intercept functions.
Symbol find(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr) throw DeviceError(fmt::format("the MPI library has no {}", name));
  return {address};
}

MpiLibrary open() {
  load();
  refuse_open_mpi();
  return {.abort = find("MPI_Abort"),
          .allgather = find("MPI_Allgather"),
          .bcast = find("MPI_Bcast"),
          .comm_dup = find("MPI_Comm_dup"),
          .comm_free = find("MPI_Comm_free"),
          .comm_rank = find("MPI_Comm_rank"),
          .comm_set_errhandler = find("MPI_Comm_set_errhandler"),
          .comm_size = find("MPI_Comm_size"),
          .comm_split = find("MPI_Comm_split"),
          .comm_split_type = find("MPI_Comm_split_type"),
          .error_string = find("MPI_Error_string"),
          .finalize = find("MPI_Finalize"),
          .get_library_version = find("MPI_Get_library_version"),
          .get_processor_name = find("MPI_Get_processor_name"),
          .iallreduce = find("MPI_Iallreduce"),
          .ibarrier = find("MPI_Ibarrier"),
          .ibcast = find("MPI_Ibcast"),
          .igather = find("MPI_Igather"),
          .igatherv = find("MPI_Igatherv"),
          .init_thread = find("MPI_Init_thread"),
          .iprobe = find("MPI_Iprobe"),
          .irecv = find("MPI_Irecv"),
          .isend = find("MPI_Isend"),
          .op_create = find("MPI_Op_create"),
          .op_free = find("MPI_Op_free"),
          .recv = find("MPI_Recv"),
          .test = find("MPI_Test")};
}

}  // namespace

const MpiLibrary& mpi() {
  static const MpiLibrary library = open();
  return library;
}

void check_mpi(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  mpi().error_string(code, text, &length);
  throw DeviceError(fmt::format("comm: {} failed: {}", what, std::string_view(text, static_cast<std::size_t>(length))));
}

namespace {

static_assert(std::is_trivially_copyable_v<WaitNote>);
constexpr int kNoteTag = 2;
constexpr std::size_t kMostUnsent = 4096;  // to ranks that take nothing: more would only cost memory

class MpiNotes final : public NoteLinks {
 public:
  explicit MpiNotes(MPI_Comm comm) : comm_(comm) {}

  void send(int rank, const WaitNote& note) override {
    forget_sent();
    if (unsent_.size() >= kMostUnsent) return;
    Sending& sending = unsent_.emplace_back(Sending{note, MPI_REQUEST_NULL});
    check_mpi(mpi().isend(&sending.note, sizeof(WaitNote), MPI_BYTE, rank, kNoteTag, comm_, &sending.request),
              "MPI_Isend");
  }

  std::optional<std::pair<int, WaitNote>> receive() override {
    int has_come = 0;
    MPI_Status status;
    check_mpi(mpi().iprobe(MPI_ANY_SOURCE, kNoteTag, comm_, &has_come, &status), "MPI_Iprobe");
    if (has_come == 0) {
      forget_sent();
      return {};
    }
    WaitNote note;
    check_mpi(mpi().recv(&note, sizeof(WaitNote), MPI_BYTE, status.MPI_SOURCE, kNoteTag, comm_, MPI_STATUS_IGNORE),
              "MPI_Recv");
    return std::pair(status.MPI_SOURCE, note);
  }

 private:
  struct Sending {
    WaitNote note;
    MPI_Request request;
  };

  void forget_sent() {
    std::erase_if(unsent_, [](Sending& sending) {
      int complete = 0;
      check_mpi(mpi().test(&sending.request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
      return complete != 0;
    });
  }

  const MPI_Comm comm_;
  std::list<Sending> unsent_;  // a list, because MPI reads the notes where they are
};

}  // namespace

std::unique_ptr<NoteLinks> make_mpi_notes(const void* mpi_comm) {
  return std::make_unique<MpiNotes>(*static_cast<const MPI_Comm*>(mpi_comm));
}

}  // namespace chexbench::comm
