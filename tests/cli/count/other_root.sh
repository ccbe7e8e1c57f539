# A program that calls chroot() or setuid(): threads and children without files are noted with the cause, and names of
# functions are known.
count-program || exit
mkdir room
for how in chroot setuid; do
	deepclock count --no-history -q --save run.json -- ./program calls $how threads children >out 2>&1
	[ $? -ne 1 ] || { echo "this user may not $how"; exit 77; }
	record run.json '[n["text"] for n in r["notes"] if n["code"] == "count-lost"]' 'sorted(row[0] for row in t("functions")["rows"])'
	deepclock memory --no-history -q --save run.json -- ./program $how threads children >out 2>&1
	record run.json '[n["text"] for n in r["notes"] if n["code"] == "memory-lost"]' \
		'sorted(row[0] for row in t("memory/functions")["rows"] if row[1])'
done
