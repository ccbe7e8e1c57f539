# A child between vfork() and exec() has its parent's memory, which counts once.
heap-program || exit
cat >spawns.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	enum { BYTES = 100 << 20 };
	char *p = malloc(BYTES);

	if (!p)
		return 1;
	memset(p, 1, BYTES);
	for (int i = 0; i < 3; i++) {
		const pid_t child = vfork();

		if (child == 0) {
			usleep(300000);
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
	return p[BYTES / 2] != 1;
}
END
cc -O1 spawns.c -o spawns || exit
for how in "" --rss-only; do
	deepclock memory $how --no-history -q --save run.json -- ./spawns >out 2>&1 || cat out
	record run.json '100 * 2**20 < m("memory/peak_rss")["value"] < 150 * 2**20' 'max(s("memory/rss")["values"]) < 150 * 2**20'
done
