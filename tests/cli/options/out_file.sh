# -o: the result goes into a file, which is written atomically.
deepclock bench -q -r 3 -w 0 --engine null zoo:simplenet -f json -o run.json > stdout
echo "$? $(wc -c < stdout)"
record run.json 'm("runs/count")["value"]'
deepclock report run.json -f csv -o out.csv && deepclock report run.json -f csv | cmp - out.csv && echo same
deepclock report run.json --out=- -f csv | cmp - out.csv && echo same
deepclock report run.json --output out.txt && sed -n 1p out.txt | cut -d, -f1
# Its extension selects the format, unless --format does.
deepclock report run.json -o by-ending.csv && cmp out.csv by-ending.csv && echo same
deepclock report run.json -o by-ending.json && cmp run.json by-ending.json && echo same
deepclock report run.json -o text.csv -f text && cmp text.csv out.txt && echo same
deepclock history list --db none.db -o list.txt
echo "$? $(ls list.txt* 2>/dev/null | wc -l)"
deepclock engines --format csv -o engines.csv && head -1 engines.csv | cut -c1-6
deepclock zoo simplenet -qo net.onnx && deepclock cost -q --engine-lib x net.onnx > /dev/null 2>&1; ls net.onnx
# An existing file is unchanged on failure, and no temporary file remains.
echo before > kept
deepclock report missing.json -o kept
echo "$? $(cat kept)"
deepclock report run.json -f json -o /dev/full
echo $?
deepclock bench -q zoo:simplenet -o nowhere/out.txt
echo $?
deepclock bench -q zoo:simplenet -o .
echo $?
# A symbolic link stays a link.
ln -s kept link
deepclock report run.json -f csv -o link && test -L link && cmp kept link && head -1 kept
deepclock pitfalls --list -o - | sed -n 1p | cut -c1-3
# The program's own output is separate; its exit status too.
deepclock bench -q -r 3 -w 0 -o result.txt --output inner.txt -- echo word && sort -u inner.txt && grep -q median result.txt && echo shown
deepclock compare -q -o verdict.txt --margin 2% --margin 3% run.json missing.json
echo "$? $(ls verdict.txt* 2>/dev/null | wc -l)"
ls
