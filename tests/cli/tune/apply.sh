# The lines that apply the answer set the threads that the engine took, also where it divides the cores; an option of one
# engine is that engine's.
need-ort || exit 77
deepclock tune --quiet zoo:simplenet --interop-threads 2 --engine-option ort:spin=0 --only mem_pattern --trial 5ms --max-time 1s \
	--save run.json > text
echo $?
record run.json '[row[4] for row in t("tune/apply")["rows"] if row[3] == "intra_op_num_threads"] == [f("engine", "threads")]' \
	'[row[4] for row in t("tune/apply")["rows"] if row[3] == "inter_op_num_threads"]' \
	'[row[0] for row in t("tune/apply")["rows"] if row[3] == "session.intra_op.allow_spinning"]'
# Also of a process that is pinned.
deepclock tune --quiet zoo:simplenet --cpus "$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')" --only mem_pattern --trial 5ms \
	--max-time 1s --save run.json > text
echo $?
record run.json '[row[4] for row in t("tune/apply")["rows"] if row[3] == "intra_op_num_threads"]'
# The sizes by name that the session had.
onnx-model named.onnx <<'END'
input x 1xlength
output y
node Relu x y
END
deepclock tune --quiet named.onnx --dim length=64 --only mem_pattern --trial 5ms --max-time 1s --save run.json > text
echo $?
record run.json '[row[1:3] for row in t("tune/apply")["rows"] if row[0] == "sizes"]'
# It is given, so it is not varied.
deepclock tune --quiet zoo:simplenet --engine-option ort:spin=0 --only spin --trial 5ms --max-time 1s
echo $?
# The items of one batch do not hold for another.
deepclock tune --quiet zoo:simplenet --items 10 --goal throughput --only batch --trial 5ms --max-time 1s
echo $?
# The lines of Python for a file whose name has quotes and blanks are Python, and have that name.
name="it's a \"net\".onnx"
deepclock zoo simplenet --symbolic -o "$name"
for engine in ort openvino; do
	deepclock tune --quiet "$name" --engine $engine --threads 1 --only mem_pattern,performance_hint --trial 5ms --max-time 1s \
		--save run.json > text 2> err || { test $engine = openvino && grep -q 'no OpenVINO' err; } || cat err
	python3 - << 'END'
import ast, json
run = json.load(open("run.json"))
table = next(t for t in run["tables"] if t["name"] == "tune/apply")
tree = ast.parse("\n".join(row[1] for row in table["rows"] if isinstance(row[1], str)))
print({n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and str(n.value).endswith(".onnx")})
END
done
