# Children that record after setuid() or chroot(), and programs that are started then, can make no file here, and are counted in a note.
[ "$(id -u)" = 0 ] || { echo "only root may setuid()"; exit 77; }
zone-program && rm program || exit # not under a sanitizer
cat >starts.c <<'C'
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int starts(const char *how)
{
	if (!strcmp(how, "chroot") ? chroot("room") || chdir("/") : setuid(65534))
		return 77;
	if (!strcmp(how, "exec")) {
		execl("/nothing", "nothing", (char *)NULL);
		execl("/bin/true", "true", (char *)NULL);
	}
	return usleep(20000) != 0; /* longer than --waits */
}
int main(int argc, char **argv)
{
	int status;

	for (int i = 1; i < argc; i++) {
		const pid_t child = fork();

		if (child == 0)
			_exit(starts(argv[i]));
		if (waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) == 77))
			return 77;
	}
	return 0;
}
C
mkdir room && chmod 755 . && cc starts.c -o starts || exit
for how in setuid chroot exec "setuid exec exec"; do
	deepclock trace --no-history -q --waits 1ms --save run.json -- ./starts $how >out 2>&1
	[ $? -ne 77 ] && [ -s run.json ] || { echo "this user may not setuid() or chroot()"; exit 77; }
	record run.json '[n["text"].split(";")[0] for n in r["notes"] if n["code"] == "programs-not-recorded"]'
done
