# A program in C that loads libpython without RTLD_GLOBAL has Python's functions in its stacks, and goes on after it unloads it.
heap-program || exit
library=$(python3 -c 'import os, sysconfig as s; print(os.path.join(s.get_config_var("LIBDIR"), s.get_config_var("INSTSONAME") or "none"))')
[ -e "$library" ] || { echo "there is no $library"; exit 77; }
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library)
		return 77;
	void (*begin)(void) = dlsym(library, "Py_Initialize"), (*end)(void) = dlsym(library, "Py_Finalize");
	int (*run)(const char *) = dlsym(library, "PyRun_SimpleString");
	begin();
	run("def keep(n):\n  return [bytes(2000 + i) for i in range(n)]\nx = keep(2000)\n");
	end();
	dlclose(library);
	free(malloc(77777));
	return 0;
}
END
cc loads.c -o loads -ldl || exit
deepclock memory --quiet --save run.json -- ./loads "$library" >out 2>err || { [ $? = 77 ] && { echo "it cannot be loaded"; exit 77; }; cat out err; }
record run.json 'any(frame["name"] == "keep" for tree in r["trees"] for frame in tree["frames"])' 'f("result", "exit_status")'
