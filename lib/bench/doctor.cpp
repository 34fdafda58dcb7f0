#include "bench/doctor.hpp"

namespace chexbench::bench {

report::Doctor examine() {
  report::Doctor doctor;
  doctor.machine = measure::probe_machine();
  doctor.packages = {{"MPI", CHEXBENCH_HAS_MPI},    {"oneDNN", CHEXBENCH_HAS_ONEDNN}, {"OpenCV", CHEXBENCH_HAS_OPENCV},
                     {"ISA-L", CHEXBENCH_HAS_ISAL}, {"hwloc", CHEXBENCH_HAS_HWLOC},   {"cuDNN", CHEXBENCH_HAS_CUDNN},
                     {"NCCL", CHEXBENCH_HAS_NCCL},  {"NVML", CHEXBENCH_HAS_NVML}};
  doctor.survey = measure::survey_gpus();
  doctor.libraries = measure::find_gpu_libraries();
  doctor.misfits = measure::misfits(doctor.survey, doctor.libraries);
  return doctor;
}

bool needs_mending(const report::Doctor& doctor) { return doctor.survey.has_gpu() && !doctor.misfits.empty(); }

}  // namespace chexbench::bench
