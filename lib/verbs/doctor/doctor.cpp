#include "verbs/doctor/doctor.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

#include "bench/core_layout.hpp"
#include "engine/registry.hpp"
#include "image/isa.hpp"
#include "spec/url.hpp"
#include "verbs/doctor/store_probe.hpp"

namespace chexbench::verbs {
namespace {

std::vector<measure::RankPlace> find_rank_places(comm::World& world) {
  const std::vector<bench::RankCores> ranks = bench::gather_rank_cores(world);
  std::vector<measure::RankPlace> places;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bench::CoreShare share =
        bench::share_cores(bench::host_cores_of(ranks, rank), {}, static_cast<int>(ranks.size()));
    places.push_back(
        {.host = ranks[rank].host, .cores = ranks[rank].cores, .cores_per_rank = static_cast<int>(share.cores.size())});
  }
  return places;
}

std::vector<measure::Setting> find_settings() {
  std::vector<measure::Setting> settings;
  for (const std::string& name : measure::threading_variables()) {
    if (const char* const value = std::getenv(name.c_str())) settings.push_back({name, value});
  }
  return settings;
}

measure::Surroundings look_around(const DoctorRequest& request, std::vector<measure::RankPlace> ranks,
                                  const std::string& mpi) {
  measure::Surroundings around{.cpu = measure::probe_cpu_layout(request.roots),
                               .cgroup = measure::probe_cgroup_limits(request.roots),
                               .memory = measure::probe_memory(request.roots),
                               .shared = measure::probe_shared_memory(request.roots),
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

}  // namespace

Doctor examine(const DoctorRequest& request, comm::World& world) {
  std::vector<measure::RankPlace> ranks = find_rank_places(world);
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
