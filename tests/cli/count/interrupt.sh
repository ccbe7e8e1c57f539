# A signal: it is forwarded, and the counts until then are reported.
count-program || exit
interrupt SIGTERM started deepclock count --no-history -q --save run.json -- \
	sh -c './program calls; echo >started; exec sleep 60' >out
echo "exit $?"
record run.json 'r["incomplete"]' '[row[1] for row in t("functions")["rows"] if row[0] == "leaf"]' 'note("interrupted")["text"]'
# The call that a killed program was in has its time until then.
cat >stays.c <<'END'
#include <fcntl.h>
#include <unistd.h>
void stays(void)
{
	if (write(creat("stays", 0600), "x", 1) != 1)
		return;
	for (;;)
		pause();
}
int main(void) { stays(); }
END
"${CC:-cc}" -finstrument-functions stays.c -o program2 || exit
interrupt SIGTERM stays deepclock count --no-history -q --save run.json -- ./program2 >out
echo "exit $?"
record run.json '[(row[0], row[2] > 0) for row in t("functions")["rows"] if row[0] == "stays"]'
