# A program that is started after setuid() or chroot() can make no file here, and is counted in a note; one that is not started is not.
[ "$(id -u)" = 0 ] || { echo "only root may setuid()"; exit 77; }
heap-program && rm program || exit
count-program || exit
cat >starts.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int starts(const char *how)
{
	if (!strcmp(how, "chroot") ? chroot("room") || chdir("/") : setuid(65534))
		return 77;
	execl("/nothing", "nothing", (char *)NULL);
	if (!strcmp(how, "chroot"))
		return execl("/other", "other", (char *)NULL);
	return execl("/bin/true", "true", (char *)NULL);
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
END
mkdir room && printf 'int main(void) { return 0; }\n' >other.c && { cc -static other.c -o room/other 2>/dev/null || { echo "there is no static C library"; exit 77; }; } &&
	cc -finstrument-functions starts.c -o starts || exit
for command in memory count; do
	deepclock $command --no-history -q --save run.json -- ./starts setuid chroot setuid >out 2>&1
	[ $? -ne 77 ] && [ -s run.json ] || { echo "this user may not setuid() or chroot()"; exit 77; }
	record run.json '[n["text"].split(";")[0] for n in r["notes"] if n["code"] == "programs-not-recorded"]'
done
