# A line on the terminal, erased at the end; none in a file, with --quiet, on a dumb terminal.
run() {
	"$@" deepclock bench $options --runs 60 --warmup 0 --idle 10ms --engine null --format csv zoo:simplenet
}
run on-terminal 80 > terminal
grep -q '<CR><ESC>\[K.*measure .* of 60 ' terminal && echo progress
grep -o '^.*<CR><ESC>\[K[a-z]*,' terminal | tail -n 1 | grep -q '<CR><ESC>\[K[a-z]*,$' && echo erased
python3 - <<'END'
import re
for line in re.findall(r"<ESC>\[K(?:<ESC>\[2m)?([^<]* of 60 [^<]*)", open("terminal").read()):
    if len(line) > 79:
        print("too wide:", line)
END
run > file 2> err
tr '\r' R < err | grep -q R || echo none in a file
options=--quiet
run on-terminal 80 | grep -q 'measure .* of 60 ' || echo "none with $options"
options=--no-progress
run on-terminal 80 | grep -q 'measure .* of 60 ' || echo "none with $options"
options=
run on-terminal 80 env TERM=dumb | grep -q 'measure .* of 60 ' || echo none on a dumb terminal
