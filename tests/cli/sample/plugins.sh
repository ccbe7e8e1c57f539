# Libraries that are loaded in turn at one address each have their own time.
sampled-program || exit
by=$(sampled-by) || { echo "$by"; exit 77; }
cat >main.c <<'C'
#include <dlfcn.h>
int main(void)
{
	static const char *const files[] = {"./plug_a.so", "./plug_b.so"};
	for (int i = 0; i < 8; i++) {
		void *library = dlopen(files[i % 2], RTLD_NOW);
		void (*work)(int);
		if (!library)
			return 1;
		*(void **)&work = dlsym(library, "work");
		work(i % 2 ? 40000000 : 15000000);
		dlclose(library);
	}
	return 0;
}
C
for x in a b; do
	cat >plug_$x.c <<C
static volatile long sum;
__attribute__((noinline)) static void plug_$x(int n) { for (int i = 0; i < n; i++) sum += i; }
void work(int n) { plug_$x(n); sum++; }
C
	${CC:-cc} -O1 -fPIC -shared plug_$x.c -o plug_$x.so 2>err || { echo "there is no compiler"; exit 77; }
done
${CC:-cc} -O1 main.c -o main -ldl || exit
for one in $by; do
	deepclock sample --quiet --source $one --save run.json -- ./main >/dev/null || echo $?
	record run.json '[sum(row[2] for row in t("functions")["rows"] if row[0] == "plug_" + x) > 0 for x in "ab"]' \
		'sum(row[2] for row in t("functions")["rows"] if row[0] == "plug_b") > sum(row[2] for row in t("functions")["rows"] if row[0] == "plug_a")'
done | sort -u
