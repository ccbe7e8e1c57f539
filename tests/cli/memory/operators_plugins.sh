# C++ libraries that a program of C loads and unloads, with operators of several libraries; fork() with an allocator's operators.
heap-program || exit
command -v c++ >/dev/null || { echo "there is no C++ compiler"; exit 77; }
cat >strings.cpp <<'END'
#include <string>
extern "C" int run(void)
{
	std::string s(100, 'x');
	int *n = new int(1), *all = new int[3], one = *n;
	delete n;
	delete[] all;
	return (int)s.size() - 99 - one;
}
END
cat >main.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int sum = 0;
	dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	for (int round = 0; round < 3; round++)
		for (int i = 1; i < argc; i++) {
			void *p = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
			if (!p)
				return 2;
			sum += ((int (*)(void))dlsym(p, "run"))();
			dlclose(p);
		}
	dlopen("libnot_there.so", RTLD_NOW);
	const char *failed = dlerror();
	printf("%d %s\n", sum, failed ? "an error" : "no error");
	return 0;
}
END
cat >forks.cpp <<'END'
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
int main()
{
	int status = 0;
	delete new char;
	const pid_t child = fork();
	if (child == 0) {
		delete new int(5);
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
}
END
cat >direct.cpp <<'END'
#include <cstdlib>
extern "C" void *__libc_malloc(size_t);
extern "C" void __libc_free(void *);
extern "C" void *malloc(size_t n) { return __libc_malloc(n); }
extern "C" void free(void *p) { __libc_free(p); }
void *operator new(size_t n) { return __libc_malloc(n); }
void operator delete(void *p) noexcept { __libc_free(p); }
void operator delete(void *p, size_t) noexcept { __libc_free(p); }
END
c++ -fPIC -shared strings.cpp -o a.so && c++ -fPIC -shared -static-libstdc++ -static-libgcc strings.cpp -o b.so &&
	c++ forks.cpp -o forks && c++ -fPIC -shared direct.cpp -o direct.so && cc main.c -ldl -o c || exit
deepclock memory --quiet --save run.json -- ./c ./a.so ./b.so | head -1
deepclock memory --quiet --sample 64 --save run.json -- ./c ./b.so ./a.so | head -1
LD_PRELOAD=$PWD/direct.so deepclock memory --quiet -- ./forks | head -1
LD_PRELOAD=$PWD/direct.so deepclock memory --quiet --sample 64 -- ./forks | head -1
