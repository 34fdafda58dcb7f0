// Wrappers of MPI's functions that move data between ranks, over their PMPI names. Class mpi-poll is MPI_Test, whose
// number of calls depends on the timing of the other ranks.
#include <mpi.h>

#include "fault.hpp"

namespace {

bool fails(const char* function, faults::Class kind = faults::Class::mpi) {
  return faults::is_chosen(kind) && faults::must_fail(function);
}

}  // namespace

// An MPI function with its parameters, and with these as arguments of the real one.
#define FAULTS_MPI(name, parameters, arguments) \
  int MPI_##name parameters { return fails("MPI_" #name) ? MPI_ERR_OTHER : PMPI_##name arguments; }

extern "C" {

FAULTS_MPI(Init_thread, (int* count, char*** texts, int wanted, int* provided), (count, texts, wanted, provided))
FAULTS_MPI(Comm_dup, (MPI_Comm comm, MPI_Comm* copy), (comm, copy))
FAULTS_MPI(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* part), (comm, color, key, part))
FAULTS_MPI(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part),
           (comm, type, key, info, part))
FAULTS_MPI(Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
FAULTS_MPI(Allgather,
           (const void* own, int own_count, MPI_Datatype own_type, void* all, int count, MPI_Datatype type,
            MPI_Comm comm),
           (own, own_count, own_type, all, count, type, comm))
FAULTS_MPI(Iallreduce,
           (const void* own, void* sum, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
           (own, sum, count, type, op, comm, request))
FAULTS_MPI(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
FAULTS_MPI(Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
           (data, count, type, root, comm, request))
FAULTS_MPI(Igather,
           (const void* own, int own_count, MPI_Datatype own_type, void* all, int count, MPI_Datatype type, int root,
            MPI_Comm comm, MPI_Request* request),
           (own, own_count, own_type, all, count, type, root, comm, request))
FAULTS_MPI(Igatherv,
           (const void* own, int own_count, MPI_Datatype own_type, void* all, const int* counts, const int* places,
            MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
           (own, own_count, own_type, all, counts, places, type, root, comm, request))
FAULTS_MPI(Iprobe, (int source, int tag, MPI_Comm comm, int* found, MPI_Status* status),
           (source, tag, comm, found, status))
FAULTS_MPI(Irecv, (void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request),
           (data, count, type, source, tag, comm, request))
FAULTS_MPI(Isend,
           (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request),
           (data, count, type, to, tag, comm, request))
FAULTS_MPI(Recv, (void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status),
           (data, count, type, source, tag, comm, status))

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (fails("MPI_Test", faults::Class::mpi_poll)) return MPI_ERR_OTHER;
  return PMPI_Test(request, done, status);
}

}  // extern "C"
