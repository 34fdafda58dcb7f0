#include "comm/schemes/schedule.hpp"

namespace chexbench::comm {

Schedule parameter_server_schedule(int rank, int world, int servers, std::size_t count) {
  const auto part = [&](int server, int peer, bool add) {
    Message made = part_of(count, static_cast<std::size_t>(servers), static_cast<std::size_t>(server));
    made.peer = peer;
    made.add = add;
    return made;
  };
  const auto put = [](std::vector<Message>& messages, const Message& message) {
    if (message.count > 0) messages.push_back(message);
  };
  Round push;
  Round pull;
  // Each begins with another server, or all would queue at one after the other.
  for (int i = 1; i <= servers; ++i) {
    const int server = (rank + i) % servers;
    if (server == rank) continue;
    put(push.sends, part(server, server, false));
    put(pull.receives, part(server, server, false));
  }
  for (int i = 1; rank < servers && i < world; ++i) {
    const int worker = (rank + i) % world;
    put(push.receives, part(rank, worker, true));
    put(pull.sends, part(rank, worker, false));
  }
  return {push, pull};
}

}  // namespace chexbench::comm
