# Variants of the model: rows of their own where a Python with the tools made them, and the reason where it did not.
mkdir bin
cat > bin/python3 << 'END'
#!/bin/sh
# In place of a Python with ONNX Runtime's tools: the model as its own variant, and one that cannot be made.
shift 2
echo "$4" "${5-}" > arguments
cp "$1" "$2/$3.int8-dynamic.onnx" && printf 'int8-dynamic\t%s/%s.int8-dynamic.onnx\t\n' "$2" "$3"
echo 'a line of a library'
printf 'fp16\t\tValueError: the model has no weights\n'
END
chmod +x bin/python3
deepclock zoo simplenet --symbolic -o net.onnx
PATH=$PWD/bin:$PATH deepclock tune --quiet net.onnx --engine null --engine-option sleep_ns=1000000 --quantize made/here --only variant \
	--seed 7 --dim batch=3 --trial 10ms --min-change 50% --max-time 20s --save run.json > text 2> err
echo $?
cat arguments
ls made/here
record run.json 'f("tune", "variant_int8-dynamic")' '[x.get("absent") for x in r["facts"] if x["key"] in ("variant_int8-static", "variant_fp16")]' \
	'f("space", "variant")' 'f("tune", "variants_elapsed") > 0' 'note("variant-absent")["text"]' \
	'sorted(row[0] for row in t("tune/configurations")["rows"])'
# A Python without them: the command that brings them, and the other options.
cat > bin/python3 << 'END'
#!/bin/sh
exec /usr/bin/env -i /usr/bin/python3 -I -S "$@"
END
printf 'sleep_ns=2000000\n' > space.txt
PATH=$PWD/bin:$PATH deepclock tune --quiet zoo:simplenet --engine null --engine-option sleep_ns=1000000 --quantize made --space space.txt \
	--trial 10ms --min-change 50% --max-time 20s --save run.json > text 2> err
echo $?
ls made
record run.json 'note("variant-absent")["text"].replace("/usr/bin/", "")' 'f("space", "sleep_ns")'
PATH=$PWD/bin:$PATH deepclock tune --quiet zoo:simplenet --quantize made --only variant 2>&1 | tr '\n' ' ' | sed 's/\/usr\/bin\///'
echo
touch file net.tflite
deepclock tune --quiet net.tflite --engine null --quantize made
echo $?
deepclock tune --quiet zoo:simplenet --quantize file/made
echo $?
