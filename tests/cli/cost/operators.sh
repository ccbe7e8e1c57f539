# Every operator has its formula, in all three forms.
deepclock cost --operators > text
deepclock cost --operators --format csv > table.csv
deepclock cost --operators --format json > list.json
grep '^Conv \|^Gemm \|^Relu \|^Reshape ' text
awk 'length > 80 {print "too wide: " $0}' text
python3 - <<'END'
import csv, json
rows, data = list(csv.DictReader(open("table.csv"))), json.load(open("list.json"))
print(rows == data, len(data) > 250, all(o["name"] and o["formula"] for o in data))
names = [(o["domain"], o["name"]) for o in data]
print(len(set(names)) == len(names), sorted({d for d, _ in names}))
missing = [n for _, n in names if n not in open("text").read()]
print(missing)
END
deepclock cost --operators > /dev/full
echo $?
