#include "comm/schemes/schedule.hpp"

namespace chexbench::comm {

Schedule parameter_server_schedule(int rank, int world, int servers, std::size_t count) {
  const auto part = [&](int server, int peer, bool add) {
    return part_of(count, static_cast<std::size_t>(servers), static_cast<std::size_t>(server), peer, add);
  };
  Round push;
  Round pull;
  // Each rank begins with a different server. Otherwise all ranks would queue at one server after the other.
  for (int i = 1; i <= servers; ++i) {
    const int server = (rank + i) % servers;
    if (server == rank) continue;
    push.sends.push_back(part(server, server, false));
    pull.receives.push_back(part(server, server, false));
  }
  for (int i = 1; rank < servers && i < world; ++i) {
    const int worker = (rank + i) % world;
    push.receives.push_back(part(rank, worker, true));
    pull.sends.push_back(part(rank, worker, false));
  }
  return {push, pull};
}

}  // namespace chexbench::comm
