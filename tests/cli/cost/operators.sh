# Every operator has its formula, in all three formats.
deepclock cost --operators > text
deepclock cost --operators --format csv > table.csv
deepclock cost --operators --format json > list.json
grep '^Conv \|^Gemm \|^Relu \|^Reshape ' text
# What cannot be counted has no formula.
grep -A1 'microsoft.BeamSearch\|microsoft.LongformerAttention\|microsoft.Rfft' text
grep -c '1 FLOP for each' text
awk 'length > 80 {print "too wide: " $0}' text
python3 - <<'END'
import csv, json
rows, data = list(csv.DictReader(open("table.csv"))), json.load(open("list.json"))["tables"][0]
data = [dict(zip((c["key"] for c in data["columns"]), r)) for r in data["rows"]]
names = [(o["domain"], o["name"]) for o in data]
print("more than 250 operators:", len(data) if len(data) <= 250 else "yes")
print("in one form alone:", [o for o in rows + data if o not in rows or o not in data], "in the same order:", rows == data)
print("without a formula:", [o for o in data if not o["name"] or not o["formula"]])
print("by domain, then by name:", names == sorted(names))
print("listed twice:", sorted({n for n in names if names.count(n) > 1}))
print("domains:", sorted({d for d, _ in names}))
print("not in the text:", [n for _, n in names if n not in open("text").read()])
END
deepclock cost --operators > /dev/full
echo $?
