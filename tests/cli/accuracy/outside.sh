# Labels outside --label-list count in the comparison as they do in the accuracy; two classes of one name have their own
# metrics; texts and scores may come in any order.
printf '0\n1\n2\n2\n' > truth.txt
printf '0\n1\n0\n1\n' > b.txt
deepclock accuracy --quiet --labels truth.txt --predictions A=truth.txt --predictions B=b.txt --label-list 0,1 --save run.json > out
record run.json '[[c.get("value") if isinstance(c, dict) else c for c in row] for t in r["tables"] if "changed" in str(t["columns"]) for row in t["rows"]]'
deepclock accuracy --quiet --labels truth.txt --predictions b.txt --target-names crane,dog,crane --save run.json > out
record run.json 'sorted(m["tag"] for m in r["metrics"] if m["tag"].startswith("recall/"))'
deepclock accuracy --quiet --labels truth.txt --predictions truth.txt --label-list 9223372036854775807 > out
echo $?
printf 'cat\ndog\ncat\n' > text.txt
python3 -c 'import struct
head = b"{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (3, 2), }".ljust(117) + b"\n"
open("s.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<6f", 2, 1, 1, 2, 1, 2))'
deepclock accuracy --quiet --labels text.txt --predictions A=text.txt --predictions B=s.npy --target-names cat,dog > out
echo $?
deepclock accuracy --quiet --labels text.txt --predictions B=s.npy --predictions A=text.txt --target-names cat,dog > out
echo $?
