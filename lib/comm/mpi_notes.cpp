#include "comm/mpi_notes.hpp"

#include <mpi.h>

#include <list>
#include <type_traits>

#include "comm/mpi_check.hpp"
#include "comm/mpi_library.hpp"

namespace chexbench::comm {
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
