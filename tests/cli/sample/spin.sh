# An OpenMP thread that busy-waits has a separate row, and the program's own function ranks first.
sampled-program || exit
[ "$(nproc)" -ge 2 ] || { echo "OpenMP does not spin on one processor"; exit 77; }
cat > half.c <<'END'
#include <omp.h>
static __attribute__((noinline)) double work(long n)
{
	volatile double x = 1;
	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	return x;
}
int main(void)
{
	double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	if (omp_get_thread_num() == 0)
		sum += work(100000000);
	return sum < 0;
}
END
"${CC:-cc}" -g -O1 -fopenmp -o half half.c 2>/dev/null || { echo "this compiler has no OpenMP"; exit 77; }
OMP_WAIT_POLICY=active deepclock sample --save run.json -- ./half >out || cat out
sed -n '2,/^$/p' out | grep -c '^  work takes .* of CPU time'
record run.json '[row[0] for row in t("functions")["rows"] if row[0].startswith("[busy")]' 'f("sample", "busy_waiting") > 0.1 * f("sample", "time")' \
	'"busy-waiting of OpenMP" in f("result", "answer")'
