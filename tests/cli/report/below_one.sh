# Weights below 1: folded stacks have decimals; formats of whole numbers would lose all of them.
printf 'a;b 0.25\na;c 0.125\n' > weights.folded
deepclock report weights.folded --format folded
for format in callgrind pprof; do
	deepclock report weights.folded --format $format
	echo "exit $?"
done
# Ten paths of one function have 3 in all, however its formats round each.
for i in 0 1 2 3 4 5 6 7 8 9; do echo "main;p$i;leaf 0.3"; done > parts.folded
echo "main 5" >> parts.folded
deepclock report parts.folded --format callgrind > parts.callgrind
grep summary parts.callgrind
deepclock report parts.folded --format pprof > parts.pb.gz && python3 - <<'END'
import gzip
def fields(d):
    i = 0
    def number():
        nonlocal i
        v = shift = 0
        while True:
            b = d[i]
            i += 1
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v
    while i < len(d):
        key = number()
        value = number()
        if key & 7:
            i += value
            value = d[i - value:i]
        yield key >> 3, value
profile = gzip.open("parts.pb.gz").read()
print("sum", sum(v for k, sample in fields(profile) if k == 2 for f, v in fields(sample) if f == 2))
END
