# C++: exceptions end the calls that they unwind, template instances have separate names, a thread has its own tree.
count-program || exit
[ -x thrown ] || { echo "tests/count/thrown.cc was not built: no C++ compiler"; exit 77; }
deepclock count --no-history -q --save run.json -- ./thrown >out 2>&1
record run.json 'sorted((row[0], row[1]) for row in t("functions")["rows"] if row[0] in ("thrower", "catcher", "after", "main", "many<3>", "many<7>"))' \
	't("processes")["rows"][0][2]' '[n["code"] for n in r["notes"] if n["code"] not in ("count-price", "busy-neighbours", "steal")]'
# An unwound call is not reported as still open: catcher calls after() itself, not thrower.
deepclock report run.json --callers after --format json >callers.json
record callers.json '[row[0] for row in r["tables"][0]["rows"]]' 'r["tables"][0]["title"]'
# The same call, left by exceptions again and again, is no recursion; inlined functions and recursions share frames.
cat >left.cc <<'C'
static volatile int done;
static void thrower() { done = done + 1; throw 1; }
static inline void inner(int n) { done = done + 1; if (n % 2) throw 2; done = done + 1; }
static inline void middle(int n) { inner(n); done = done + 1; }
__attribute__((noinline)) static void catches(int n)
{
	for (int i = 0; i < n; i++)
		try { middle(i); } catch (int) { done = done + 1; }
}
static int factorial(int n) { return n > 1 ? n * factorial(n - 1) : 1; }
int main()
{
	catches(20);
	for (int i = 0; i < 5; i++)
		done = factorial(6 + 0 * done);
	for (int i = 0; i < 3000; i++)
		try { thrower(); } catch (int) {}
}
C
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for level in -O0 -O2; do
		$compiler $level -g -finstrument-functions left.cc -o left || exit
		deepclock count --no-history -q --save run.json -- ./left >out 2>&1
		record run.json 'sorted((row[0].split("(")[0], row[1], row[5]) for row in t("functions")["rows"])'
	done
done | sort -u
