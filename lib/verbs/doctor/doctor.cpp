#include "verbs/doctor/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "bench/rank_layout.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/text.hpp"
#include "dataset/image_files.hpp"
#include "engine/registry.hpp"
#include "formats/shards.hpp"
#include "image/isa.hpp"
#include "report/text_table.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {
namespace {

std::vector<measure::BoundRank> find_rank_places(comm::World& world) {
  const std::vector<bench::RankCores> ranks = bench::gather_rank_cores(world);
  std::vector<measure::BoundRank> places;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bench::CoreShare share =
        bench::share_cores(bench::host_cores_of(ranks, rank), {}, static_cast<int>(ranks.size()));
    places.push_back(
        {.host = ranks[rank].host, .cores = ranks[rank].cores, .cores_per_rank = static_cast<int>(share.cores.size())});
  }
  return places;
}

std::vector<measure::EnvironmentSetting> find_settings() {
  std::vector<measure::EnvironmentSetting> settings;
  for (const std::string& name : measure::threading_variables()) {
    if (const char* const value = std::getenv(name.c_str())) settings.push_back({name, value});
  }
  return settings;
}

measure::Surroundings look_around(const DoctorRequest& request, std::vector<measure::BoundRank> ranks,
                                  const std::string& mpi) {
  measure::Surroundings around{.cpu = measure::probe_cpu_layout(request.roots),
                               .cgroup = measure::probe_cgroup_limits(request.roots),
                               .memory = measure::probe_memory(request.roots),
                               .shared = measure::probe_shared_memory(request.roots),
                               .network = measure::find_network_interfaces(request.roots),
                               .threading = find_settings(),
                               .ranks = std::move(ranks),
                               .mpi = mpi,
                               .data = {}};
  if (!request.data_root.empty() && !spec::is_url(request.data_root)) {
    around.data = measure::look_at_data(request.data_root, request.roots);
    around.data->striping = measure::find_striping(around.data->file_system, request.data_root);
  }
  return around;
}

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

// Returns the first shard, or the first image if there is no shard. A shard is preferred, because it is long enough to
// show the bandwidth.
std::string file_to_read(const storage::DataRoot& root) {
  const std::string folder = formats::format_folder(root.path, spec::DataFormat::tfrecord);
  std::string first;
  for (const storage::StoreEntry& entry : root.store->list(folder)) {
    const bool is_shard = entry.kind == storage::StoreEntry::Kind::file && entry.name.find("-of-") != std::string::npos;
    if (is_shard && (first.empty() || entry.name < first)) first = entry.name;
  }
  if (!first.empty()) return fmt::format("{}/{}", folder, first);
  dataset::NameArena names;
  const std::vector<dataset::ImageFile> images = dataset::list_images(*root.store, root.path, names);
  if (images.empty()) throw DataError(fmt::format("no data set at '{}': there is no shard and no image", root.path));
  return std::string(images.front().path);
}

double list_s(const storage::DataRoot& root) {
  const double begin_s = now_s();
  root.store->list(root.path);
  return now_s() - begin_s;
}

// Lists the root, a URL, twice, and reads up to 64 MiB of its first shard, or of its first image if there is no shard,
// as a pipeline would. Takes as long as the store does.
// @throws DataError if the store cannot be read or contains no data set
StoreProbe probe_store(const std::string& root_url) {
  const storage::DataRoot root(root_url);
  StoreProbe probe{.root = root.path, .kind = root.path.substr(0, root.path.find("://"))};
  probe.first_request_s = list_s(root);
  probe.next_request_s = list_s(root);
  probe.file = file_to_read(root);
  const double begin_s = now_s();
  const std::unique_ptr<storage::ByteStream> stream = root.store->stream(probe.file, {});
  const std::uint64_t most = std::min(stream->size(), kMostBytes);
  while (probe.read_bytes < most) {
    const std::uint64_t piece = std::min(kPieceBytes, most - probe.read_bytes);
    stream->take(piece);
    probe.read_bytes += piece;
  }
  probe.read_s = now_s() - begin_s;
  return probe;
}

}  // namespace

Doctor examine(const DoctorRequest& request, comm::World& world) {
  std::vector<measure::BoundRank> ranks = find_rank_places(world);
  if (world.communicator().rank() != 0) return {};
  Doctor doctor;
  doctor.surroundings = look_around(request, std::move(ranks), world.library());
  if (spec::is_url(request.data_root)) doctor.store = probe_store(request.data_root);
  doctor.warnings = measure::warnings(doctor.surroundings);
  doctor.machine = measure::probe_machine();
  doctor.preprocessing_instruction_set = to_string(image::best_isa());
  if (const engine::EngineKind& onednn = *engine::find_engine_kind("onednn"); onednn.usable())
    doctor.training_instruction_sets = onednn.instruction_sets();
  doctor.packages = {
      {"MPI", CHEXBENCH_HAS_MPI},      {"oneDNN", CHEXBENCH_HAS_ONEDNN}, {"OpenCV", CHEXBENCH_HAS_OPENCV},
      {"ISA-L", CHEXBENCH_HAS_ISAL},   {"cuDNN", CHEXBENCH_HAS_CUDNN},   {"NCCL", CHEXBENCH_HAS_NCCL},
      {"NVML", CHEXBENCH_HAS_NVML},    {"libcurl", CHEXBENCH_HAS_CURL},  {"libcrypto", CHEXBENCH_HAS_CRYPTO},
      {"pugixml", CHEXBENCH_HAS_PUGI}, {"libnfs", CHEXBENCH_HAS_NFS},    {"libjpeg-turbo", CHEXBENCH_HAS_JPEG},
      {"DCMTK", CHEXBENCH_HAS_DCMTK}};
  doctor.survey = measure::survey_gpus();
  doctor.libraries = measure::find_gpu_libraries();
  doctor.misfits = measure::misfits(doctor.survey, doctor.libraries);
  return doctor;
}

bool needs_mending(const Doctor& doctor) { return doctor.survey.has_gpu() && !doctor.misfits.empty(); }

}  // namespace chexbench::verbs
