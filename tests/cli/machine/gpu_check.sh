# tools/gpu_check.sh on doubles of the libraries without a device: it names what is missing, tries the rest, and says so.
build=$(dirname "$(command -v deepclock)")
LD_LIBRARY_PATH=$build/tests/doubles GPU_CHECK_DRIVERS=cuda CUDA_DOUBLE_FAIL=cuInit=100 \
	"$TESTS"/../../tools/gpu_check.sh "$build" report.md > text
echo $?
grep -E '^\| (program|suite of devices on cuda|models on cuda|gauges during) ' report.md | sed 's/ [0-9]* |$/ s |/'
grep -c '^### program' report.md
tail -n 1 text | sed 's/.*missing: .*report.md/... report.md/'
"$TESTS"/../../tools/gpu_check.sh no_build
echo $?
