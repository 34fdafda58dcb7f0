// The columns of the tables of report.html.
"use strict";

const figure = (name, unit, key, show, get) => ({ name, unit, key, show, get: get || ((trial) => trial.figures[key]) });
const labelColumn = { name: "trial", key: "label", wrap: true, get: (trial) => marked(trial) };
const flagsColumn = { name: "flags", key: "flags", wrap: true, get: (trial) => trial.flags.filter((flag) => !flag.startsWith("(")).join(", ") };
const bound = (index) => (trial) => trial.figures.images_per_s_ci95 && trial.figures.images_per_s_ci95[index];

const throughputColumns = [
  labelColumn,
  figure("images/s", "median", "images_per_s", rate),
  figure("+- MAD", "images/s", "images_per_s_mad", rate),
  figure("95 % low", "images/s", "images_per_s_ci95_low", rate, bound(0)),
  figure("95 % high", "images/s", "images_per_s_ci95_high", rate, bound(1)),
  figure("repeats", "", "repeats", words, (trial) => trial.repeats.length),
  figure("scaling", "%", "scaling_efficiency", percent),
  figure("per core", "images/s", "images_per_s_per_core", rate),
  figure("decoded", "per trained", "decoded_per_trained", fixed(2)),
  figure("memory", "peak, MB", "peak_rss_bytes", fixed(0, 1e-6), (trial) => trial.figures.peak_rss_bytes || null),
  flagsColumn,
];
// Engine none only waits, so the parts of its steps are meaningless.
const stepShare = (name, unit, key) => figure(name, unit, key, percent, (trial) => trains(trial) ? trial.figures[key] : null);
const timeColumns = [
  labelColumn,
  stepShare("wait", "%", "wait_share"),
  stepShare("upload", "%", "upload_share"),
  stepShare("compute", "%", "compute_share"),
  stepShare("communication", "% exposed", "exposed_communication_share"),
  stepShare("update", "%", "update_share"),
  stepShare("other", "%", "other_share"),
  stepShare("busy", "%", "busy_share"),
  figure("AU", "%", "au_share", percent),
  figure("cores busy", "%", "cores_busy_share", percent),
  figure("short of cores", "% of runnable", "cpu_wait_share", percent),
  { name: "limit", key: "limit", get: (trial) => trial.figures.limit },
];
const gpuColumns = [
  labelColumn,
  figure("utilization", "% (NVML)", "gpu_utilization", percent),
  figure("memory utilization", "% (NVML)", "gpu_memory_utilization", percent),
  figure("multiprocessors busy", "%", "gpu_sm_activity", percent),
  figure("tensor cores busy", "%", "gpu_tensor_activity", percent),
  figure("memory bandwidth", "%", "gpu_dram_activity", percent),
  figure("peak memory", "MB", "gpu_peak_memory_bytes", fixed(0, 1e-6)),
  figure("power of one", "W", "gpu_power_w", fixed(0)),
  figure("lowest clock", "MHz", "gpu_lowest_sm_clock_hz", fixed(0, 1e-6)),
  figure("lowest memory clock", "MHz", "gpu_lowest_memory_clock_hz", fixed(0, 1e-6)),
  figure("highest temperature", "degrees C", "gpu_highest_temperature_c", fixed(0)),
  figure("throttled", "% of samples", "gpu_throttled_share", percent),
  figure("new ECC errors", "uncorrected", "gpu_new_uncorrected_ecc_errors", words),
];
const field = (name, unit, key, show, bar) => ({ name, unit, key, show, bar, get: (row) => row.op[key] });
const queueColumns = [
  { name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
  { name: "op", key: "op", get: (row) => row.op.op },
  field("mean queue", "elements", "mean_queue_depth", fixed(1),
        (row) => isEmpty(row.op.mean_queue_depth) ? null : row.op.mean_queue_depth / row.op.queue_capacity),
  field("capacity", "elements", "queue_capacity", fixed(0)),
  field("busy", "s", "busy_wall_s", fixed(2)),
  field("blocked", "s, on input", "blocked_input_s", fixed(2)),
  field("blocked", "s, on output", "blocked_output_s", fixed(2)),
  field("out", "elements", "elements_out", words),
  field("held, at the end", "MB a rank", "bytes_held", fixed(1, 1e-6)),
];

const waitColumns = [
  { name: "trial", key: "label", wrap: true, get: (row) => marked(row.trial) },
  { name: "waits for", key: "op", get: (row) => row.wait.op },
  { name: "part", key: "part", get: (row) => row.wait.part },
  { name: "share", unit: "% of the step time", key: "share", show: percent, bar: (row) => row.wait.share, get: (row) => row.wait.share },
];
const isShown = (wait) => percent(wait.share) !== "0.0";
