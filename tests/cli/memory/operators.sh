# An allocator whose operators new and delete do not call malloc(), as jemalloc; one whose do; and C++ in a program of C.
heap-program || exit
command -v c++ >/dev/null || { echo "there is no C++ compiler"; exit 77; }
cat >allocator.cpp <<'END'
#include <cstdlib>
#include <new>
extern "C" void *__libc_malloc(size_t);
extern "C" void __libc_free(void *);
extern "C" void *malloc(size_t n) { return __libc_malloc(n); }
extern "C" void free(void *p) { __libc_free(p); }
void *operator new(size_t n)
{
	void *p = TAKE(n);
	return p ? p : throw std::bad_alloc();
}
void *operator new[](size_t n) { return operator new(n); }
void operator delete(void *p) noexcept { GIVE(p); }
void operator delete(void *p, size_t) noexcept { GIVE(p); }
END
cat >leaks.cpp <<'END'
#include <new>
static void *volatile keep;
extern "C" int leaks(void)
{
	for (int i = 0; i < 10; i++)
		keep = new char[100];
	int *volatile freed = new int;
	delete freed;
	try {
		keep = new char[1ul << 60];
	} catch (const std::bad_alloc &) {
		return 0;
	}
	return 1;
}
END
cat >main.c <<'END'
#include <dlfcn.h>
int main(void)
{
	void *p = dlopen("./libleaks.so", RTLD_NOW);
	return p ? ((int (*)(void))dlsym(p, "leaks"))() : 2;
}
END
printf 'extern "C" int leaks(void);\nint main() { return leaks(); }\n' >main.cpp
c++ -g -fPIC -shared -DTAKE=__libc_malloc -DGIVE=__libc_free allocator.cpp -o libdirect.so &&
	c++ -g -fPIC -shared -DTAKE=malloc -DGIVE=free allocator.cpp -o libcalling.so &&
	c++ -g -fPIC -shared leaks.cpp -o libleaks.so && c++ -g main.cpp leaks.cpp -o cpp && cc -g main.c -ldl -o c || exit
of() {
	deepclock memory --quiet --save run.json -- "$@" >out || cat out
	record run.json '[row[2:4] for row in t("memory/lines")["rows"] if row[0].startswith("leaks() at leaks.cpp") and row[2] + row[4]]'
}
of ./cpp
LD_PRELOAD=$PWD/libdirect.so of ./cpp
LD_PRELOAD=$PWD/libcalling.so of ./cpp
of ./c
