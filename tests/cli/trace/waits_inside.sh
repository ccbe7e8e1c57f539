# Blocking calls inside libc, by syscall(), and one that is still open when the program ends.
zone-program waits_inside || exit
deepclock trace -o rows.csv --waits 10ms --save run.json -- ./program > out
head -1 out
record run.json 'f("trace", "unfinished_ranges")'
python3 - <<'END'
import collections, csv
rows = list(csv.DictReader(open("rows.csv")))
kinds = ("wait: futex", "wait: read", "wait: write")
main = [r["name"] for r in rows if r["name"] in kinds and r["pid"] == r["tid"]]
print(*(f"{n} {name}" for name, n in sorted(collections.Counter(main).items())), sep="\n")
print([(r["name"], int(r["duration_ns"]) > 10e6) for r in rows if r["thread"] == "idle" and r["kind"] == "range"])
END
deepclock trace --waits 1h -o rows.csv --format csv -- ./program | grep -c wait:
