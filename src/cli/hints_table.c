/* hints_table.c - the names that options have in trtexec, onnxruntime_perf_test, hyperfine,
 * benchmark_app, benchmark_model, perf_analyzer, timeit, pyperf and wrk, and what they are here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "hints.h"

#define RUNS                                 \
	{                                    \
		"runs", "rounds", "requests" \
	}
#define WARMUP           \
	{                \
		"warmup" \
	}
#define TIME                       \
	{                          \
		"time", "max-time" \
	}
#define LONGEST                    \
	{                          \
		"max-time", "time" \
	}
#define THREADS           \
	{                 \
		"threads" \
	}
#define INTEROP                   \
	{                         \
		"interop-threads" \
	}
#define BATCH           \
	{               \
		"batch" \
	}
#define SHAPE           \
	{               \
		"shape" \
	}
#define DIM           \
	{             \
		"dim" \
	}
#define INPUT                     \
	{                         \
		"input", "inputs" \
	}
#define DEVICE           \
	{                \
		"device" \
	}
#define ENGINE           \
	{                \
		"engine" \
	}
#define SETTING                 \
	{                       \
		"engine-option" \
	}
#define CPUS           \
	{              \
		"cpus" \
	}
#define STREAMS           \
	{                 \
		"streams" \
	}
#define RATE           \
	{              \
		"rate" \
	}
#define FILE_OUT      \
	{             \
		"out" \
	}
#define RECORD         \
	{              \
		"save" \
	}

static const char profile_say[] =
    "times by operator are a command of their own: deepclock profile MODEL";
static const char as_it_is[] =
    "a model runs in the types it has: convert it first, then 'deepclock compare' the two";
static const char builder[] =
    "that is for a builder of engines: deepclock times the ONNX file they are built from";
static const char mode_say[] =
    "for the latency 'deepclock bench', for the most items a second 'deepclock throughput'";
static const char no_shell[] = "a program runs without a shell unless --shell is given";
static const char units_say[] =
    "texts choose the unit by the number; JSON and CSV have nanoseconds";
static const char reference_say[] =
    "the first subject is what the others are compared with: deepclock compare A B";
static const char scan_say[] = "write it as NAME=FROM..TO or NAME=FROM..TO:STEP";
static const char scan_list_say[] = "write it as NAME=VALUE,VALUE";
static const char by_ending[] = "an ending of .json, .csv or .md tells the format";

const cli_hint cli_hints[] = {
    {"runs", RUNS, NULL},
    {"rounds", RUNS, NULL},
    {"iterations", RUNS, NULL},
    {"iters", RUNS, NULL},
    {"iter", RUNS, NULL},
    {"niter", RUNS, NULL},
    {"num-iterations", RUNS, NULL},
    {"num-iters", RUNS, NULL},
    {"num-runs", RUNS, NULL},
    {"nruns", RUNS, NULL},
    {"run-count", RUNS, NULL},
    {"repeat", RUNS, NULL},
    {"repeats", RUNS, NULL},
    {"repeat-times", RUNS, NULL},
    {"repetitions", RUNS, NULL},
    {"number", RUNS, NULL},
    {"count", RUNS, NULL},
    {"loops", RUNS, NULL},
    {"n", RUNS, NULL},
    {"num-requests", {"requests", "runs"}, NULL},
    {"measurement-request-count", {"requests", "runs"}, NULL},
    {"max-runs", {"max-rounds", "max-time"}, NULL},
    {"max-iterations", {"max-rounds", "max-time"}, NULL},
    {"M", {"max-rounds", "max-time"}, NULL},
    {"m", {"min-runs"}, NULL},
    {"min-iterations", {"min-runs"}, NULL},
    {"avg-runs", {"group"}, NULL},
    {"inner-iterations", {"group"}, NULL},
    {"num-warmup", WARMUP, NULL},
    {"nwarmup", WARMUP, NULL},
    {"warmups", WARMUP, NULL},
    {"warmup-runs", WARMUP, NULL},
    {"num-warmup-runs", WARMUP, NULL},
    {"warmup-iterations", WARMUP, NULL},
    {"warmup-iters", WARMUP, NULL},
    {"num-warmups", WARMUP, NULL},
    {"warmup-time", WARMUP, NULL},
    {"warmup-requests", WARMUP, NULL},
    {"warmup-request-count", WARMUP, NULL},
    {"duration", TIME, NULL},
    {"seconds", TIME, NULL},
    {"duration-seconds", TIME, NULL},
    {"measurement-interval", TIME, NULL},
    {"t", TIME, NULL},
    {"timeout", LONGEST, NULL},
    {"max-secs", LONGEST, NULL},
    {"max-seconds", LONGEST, NULL},
    {"max-duration", LONGEST, NULL},
    {"time-limit", LONGEST, NULL},
    {"min-secs", {"min-time"}, NULL},
    {"min-seconds", {"min-time"}, NULL},
    {"min-duration", {"min-time"}, NULL},
    {"idle-time", {"idle"}, NULL},
    {"sleep-time", {"idle"}, NULL},
    {"run-delay", {"idle"}, NULL},
    {"num-threads", THREADS, NULL},
    {"nthreads", THREADS, NULL},
    {"thread", THREADS, NULL},
    {"num-cpu-threads", THREADS, NULL},
    {"infer-threads", THREADS, NULL},
    {"intra-op", THREADS, NULL},
    {"intra-op-threads", THREADS, NULL},
    {"intra-threads", THREADS, NULL},
    {"intra-op-num-threads", THREADS, NULL},
    {"num-intra-threads", THREADS, NULL},
    {"omp-num-threads", THREADS, NULL},
    {"x", THREADS, NULL},
    {"inter-op", INTEROP, NULL},
    {"inter-op-threads", INTEROP, NULL},
    {"inter-threads", INTEROP, NULL},
    {"inter-op-num-threads", INTEROP, NULL},
    {"num-inter-threads", INTEROP, NULL},
    {"y", INTEROP, NULL},
    {"batch-size", BATCH, NULL},
    {"bs", BATCH, NULL},
    {"num-batch", BATCH, NULL},
    {"max-batch-size", {"max-batch", "batch"}, NULL},
    {"shapes", SHAPE, NULL},
    {"opt-shapes", SHAPE, NULL},
    {"min-shapes", SHAPE, NULL},
    {"max-shapes", SHAPE, NULL},
    {"input-shape", SHAPE, NULL},
    {"input-shapes", SHAPE, NULL},
    {"input-layer-shape", SHAPE, NULL},
    {"input-size", SHAPE, NULL},
    {"data-shape", SHAPE, NULL},
    {"input-io-formats", SHAPE, NULL},
    {"override-dim", DIM, NULL},
    {"free-dim-override", DIM, NULL},
    {"free-dimension-override", DIM, NULL},
    {"free-dimension-override-by-name", DIM, NULL},
    {"dims", DIM, NULL},
    {"dynamic-dim", DIM, NULL},
    {"load-inputs", INPUT, NULL},
    {"input-data", INPUT, NULL},
    {"input-file", INPUT, NULL},
    {"imgsz", {"image-size", "shape"}, NULL},
    {"img-size", {"image-size", "shape"}, NULL},
    {"resolution", {"image-size", "shape"}, NULL},
    {"sequence-length", {"seq", "dim"}, NULL},
    {"seq-len", {"seq", "dim"}, NULL},
    {"seq-length", {"seq", "dim"}, NULL},
    {"random-seed", {"seed"}, NULL},
    {"gpu", DEVICE, "its values are cpu, cuda and cuda:N"},
    {"use-gpu", DEVICE, "its values are cpu, cuda and cuda:N"},
    {"cuda", DEVICE, "its values are cpu, cuda and cuda:N"},
    {"cpu", DEVICE, "its values are cpu, cuda and cuda:N"},
    {"gpu-id", DEVICE, "its values are cpu, cuda and cuda:N"},
    {"provider", DEVICE, "other providers of ONNX Runtime: --engine-option provider=NAME"},
    {"providers", DEVICE, "other providers of ONNX Runtime: --engine-option provider=NAME"},
    {"execution-provider", DEVICE,
     "other providers of ONNX Runtime: --engine-option provider=NAME"},
    {"ep", DEVICE, "other providers of ONNX Runtime: --engine-option provider=NAME"},
    {"e", DEVICE, "other providers of ONNX Runtime: --engine-option provider=NAME"},
    {"d", DEVICE, "its values are cpu, cuda and cuda:N"},
    {"backend", ENGINE, NULL},
    {"framework", ENGINE, NULL},
    {"runtime", ENGINE, NULL},
    {"opt-level", {"opt"}, NULL},
    {"optimization-level", {"opt"}, NULL},
    {"graph-optimization-level", {"opt"}, NULL},
    {"use-cuda-graph", SETTING, NULL},
    {"use-spin-wait", SETTING, "spinning is its spin=1"},
    {"session-config", SETTING, NULL},
    {"provider-options", SETTING, NULL},
    {"affinity", CPUS, NULL},
    {"cpu-affinity", CPUS, NULL},
    {"cpu-list", CPUS, NULL},
    {"cpu-ids", CPUS, NULL},
    {"pin", CPUS, NULL},
    {"concurrency", STREAMS, NULL},
    {"concurrency-range", STREAMS, NULL},
    {"concurrent-requests", STREAMS, NULL},
    {"nstreams", STREAMS, NULL},
    {"num-streams", STREAMS, NULL},
    {"inf-streams", STREAMS, NULL},
    {"nireq", STREAMS, NULL},
    {"clients", STREAMS, NULL},
    {"connections", STREAMS, NULL},
    {"workers", STREAMS, NULL},
    {"qps", RATE, NULL},
    {"rps", RATE, NULL},
    {"request-rate", RATE, NULL},
    {"request-rate-range", RATE, NULL},
    {"target-qps", RATE, NULL},
    {"arrival-rate", RATE, NULL},
    {"latency-threshold", {"slo"}, NULL},
    {"latency-target", {"slo"}, NULL},
    {"max-latency", {"slo"}, NULL},
    {"percentile", {"statistic", "slo"}, NULL},
    {"metric", {"statistic"}, NULL},
    {"confidence-level", {"level", "confidence"}, NULL},
    {"stability-percentage", {"precision"}, NULL},
    {"rigorous", {"precision"}, NULL},
    {"threshold", {"margin"}, NULL},
    {"tolerance", {"rtol", "margin"}, NULL},
    {"validate", {"check-outputs"}, NULL},
    {"verify", {"check-outputs"}, NULL},
    {"memory-limit", {"memory"}, NULL},
    {"mem-limit", {"memory"}, NULL},
    {"export-json", RECORD, NULL},
    {"export-times", RECORD, "the record has the time of every run"},
    {"json", {"save", "format"}, NULL},
    {"json-out", RECORD, NULL},
    {"export-csv", FILE_OUT, by_ending},
    {"export-markdown", {"format"}, NULL},
    {"export-asciidoc", {"format"}, NULL},
    {"export-orgmode", {"format"}, NULL},
    {"markdown", {"format"}, NULL},
    {"output-format", {"format"}, NULL},
    {"output-file", FILE_OUT, by_ending},
    {"out-file", FILE_OUT, by_ending},
    {"result-file", FILE_OUT, by_ending},
    {"report-folder", FILE_OUT, by_ending},
    {"report-type", {"format"}, NULL},
    {"style", {"colour"}, NULL},
    {"no-color", {"colour"}, "--colour never"},
    {"no-colour", {"colour"}, "--colour never"},
    {"silent", {"quiet"}, NULL},
    {"log-level", {"verbose"}, NULL},
    {"debug", {"verbose"}, NULL},
    {"hide-progress", {"no-progress"}, NULL},
    {"no-progress-bar", {"no-progress"}, NULL},
    {"progress", {"no-progress"}, "by itself it is shown on a terminal"},
    {"show-output", {"output"}, "--output inherit shows it"},
    {"parameter-scan", {"scan"}, scan_say},
    {"P", {"scan"}, scan_say},
    {"parameter-step-size", {"scan"}, scan_say},
    {"D", {"scan"}, scan_say},
    {"parameter-list", {"scan"}, scan_list_say},
    {"L", {"scan"}, scan_list_say},
    {"ignore-failure", {"any-exit"}, NULL},
    {"working-directory", {"directory"}, NULL},
    {"cwd", {"directory"}, NULL},
    {"p", {"prepare"}, NULL},
    {"conclude", {"cleanup"}, NULL},
    {"N", {NULL}, no_shell},
    {"no-shell", {NULL}, no_shell},
    {"S", {"shell"}, NULL},
    {"u", {NULL}, units_say},
    {"time-unit", {NULL}, units_say},
    {"unit", {NULL}, units_say},
    {"reference", {NULL}, reference_say},
    {"baseline", {NULL}, reference_say},
    {"visit", {"trial"}, NULL},
    {"visits", {"trials"}, NULL},
    {"compare", {NULL}, reference_say},
    {"compare-to", {NULL}, reference_say},
    {"profile", {NULL}, profile_say},
    {"profiling", {NULL}, profile_say},
    {"enable-profiling", {NULL}, profile_say},
    {"enable-op-profiling", {NULL}, profile_say},
    {"dump-profile", {NULL}, profile_say},
    {"export-profile", {NULL}, profile_say},
    {"separate-profile-run", {NULL}, profile_say},
    {"dump-layer-info", {NULL}, profile_say},
    {"export-layer-info", {NULL}, profile_say},
    {"pc", {NULL}, profile_say},
    {"report-counters", {NULL}, profile_say},
    {"fp16", {NULL}, as_it_is},
    {"bf16", {NULL}, as_it_is},
    {"fp8", {NULL}, as_it_is},
    {"int8", {NULL}, as_it_is},
    {"int4", {NULL}, as_it_is},
    {"half", {NULL}, as_it_is},
    {"amp", {NULL}, as_it_is},
    {"quantize", {NULL}, as_it_is},
    {"dtype", {NULL}, as_it_is},
    {"infer-precision", {NULL}, as_it_is},
    {"save-engine", {NULL}, builder},
    {"load-engine", {NULL}, builder},
    {"build-only", {NULL}, builder},
    {"skip-inference", {NULL}, builder},
    {"workspace", {NULL}, builder},
    {"mem-pool-size", {NULL}, builder},
    {"timing-cache-file", {NULL}, builder},
    {"builder-optimization-level", {NULL}, builder},
    {"hint", {NULL}, mode_say},
    {"perf-hint", {NULL}, mode_say},
    {"mode", {"scenario"}, NULL},
    {0},
};
