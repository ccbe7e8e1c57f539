# Any damaged file is refused with a message and stays unchanged.
history-lines 40 | deepclock history import - --db good.db
sum() { cksum < "$1"; }
try() {
	before=$(sum bad.db)
	deepclock history list --db bad.db > out
	echo "list $?"
	history-lines 1 prefix=x | deepclock history import - --db bad.db 2>> err > out
	echo "import $?"
	test "$before" = "$(sum bad.db)" && echo unchanged
	rm -f bad.db*
}
echo -- a text
echo 'my letters' > bad.db; try
echo -- cut in the middle
head -c 50000 good.db > bad.db; try
echo -- without its last bytes
head -c -5 good.db > bad.db; try
echo -- noise in the middle
cp good.db bad.db
python3 -c 'open("noise", "wb").write(bytes(i * 7919 % 251 for i in range(30000)))'
dd if=noise of=bad.db bs=1 seek=8192 conv=notrunc 2> /dev/null; try
echo -- noise behind the right beginning
{ head -c 16 good.db; cat noise; } > bad.db; try
echo -- a database of another program
python3 -c 'import sqlite3; d = sqlite3.connect("bad.db"); d.execute("create table a (b)"); d.commit()'; try
echo -- of a newer deepclock
cp good.db bad.db
python3 -c 'import sqlite3; d = sqlite3.connect("bad.db"); d.execute("pragma user_version = 99"); d.commit()'; try
echo -- a text that is not what was stored
cp good.db bad.db
python3 - <<'PY'
import sqlite3
d = sqlite3.connect("bad.db")
d.execute("update texts set json = replace(json, 'zoo:a', 'zoo:b') where seq = 7")
d.commit()
PY
deepclock history check --db bad.db
deepclock history show 0006 --db bad.db
deepclock history show 0007 --db bad.db --format csv | tail -1
echo before > kept.jsonl
deepclock history export --db bad.db --out kept.jsonl
echo "$? $(cat kept.jsonl)"
echo -- a number of the index that is not the one of the record
cp good.db bad.db
python3 - <<'PY'
import sqlite3
d = sqlite3.connect("bad.db")
d.execute("update metrics set value = 2 * value where seq = 7 and tag = 'latency/median'")
d.commit()
PY
deepclock history check --db bad.db
