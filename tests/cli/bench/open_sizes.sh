# heavy
# Open dimensions of a model get usual sizes, which each command prints; where the sizes belong to data, all
# missing ones are named in one message.
need-ort || exit 77
onnx-model det.onnx <<'END'
input x px3xhxw
weight w 8x3x3x3
node Conv x,w c conv
node Relu c y relu
output y
END
# Only an equal height and width of at least 32 give the sum its shape.
onnx-model marks.onnx <<'END'
input x Nx3x?x?
weight w 8x3x3x3
node Conv x,w y conv
output y
END
onnx-model state.onnx <<'END'
input state 2xnx16
input in nx16
node Add state,in y add
node Identity in z id
output z
output y
END
for command in "cost --run"; do
	deepclock $command det.onnx
	echo $?
done
for command in bench profile "compare det.onnx" "bench zoo:simplenet" load throughput; do
	case $command in
	throughput) some="--runs 3 --batches 1,2" ;;
	load) some="--runs 3" ;;
	profile) some="--runs 3 --warmup 1 --no-roofs --no-memory --profile-runs 3" ;;
	bench) some="--runs 3 --warmup 1" ;;
	*) some="--max-time 0.2s" ;;
	esac
	echo "--- $command"
	deepclock $command det.onnx $some --quiet --no-history --save run.json > text 2> errors
	record run.json '[n["text"] for n in r["notes"] if n["code"] == "usual-sizes"]' || cat errors
done
deepclock bench det.onnx --runs 3 --warmup 1 --save run.json --no-history > text && record run.json \
	'f("subject", "input/x")' 'f("subject", "items_from")' 'f("subject", "usual_sizes")'
deepclock bench det.onnx --shape 1x3x224x224 --runs 3 --warmup 1 --save run.json > text && record run.json \
	'f("subject", "input/x")' 'note("usual-sizes")'
echo "--- some are given"
deepclock bench det.onnx --batch 2 --dim h=32 --dim w=48 --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "input/x")' 'f("subject", "items_per_run")'
deepclock bench det.onnx --batch 2 --dim w=48 --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "usual_sizes")'
deepclock bench det.onnx --batch 2 --dim z=48
echo "--- two that are called ? are two"
deepclock bench marks.onnx --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "usual_sizes")'
deepclock bench marks.onnx --dim '?=32'
deepclock bench marks.onnx --shape 2x3x32x64 --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "input/x")' 'f("subject", "items_from")'
deepclock cost marks.onnx --shape 2x3x32x64 --save run.json > text
record run.json 'r["ops"][0]["outputs"][0]["shape"]'
echo "--- a state is no batch"
deepclock bench state.onnx --dim n=3 --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "items_per_run")' 'f("subject", "items_from")'
echo "--- an engine that takes no inputs needs no sizes"
deepclock bench det.onnx --engine null --runs 3 --warmup 1 --save run.json > text
record run.json 'f("engine", "name")'
echo "--- a file gives one input its shape, the other has usual sizes"
onnx-model pair.onnx <<'END'
input x nx4
node Relu x y relu
input other kx8
node Relu other z other
output y
output z
END
python3 - <<'END'
import struct
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
head += " " * (117 - len(head)) + "\n"
open("x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(48))
END
deepclock bench pair.onnx --input x=x.npy --runs 3 --warmup 1 --save run.json > text
record run.json 'f("subject", "input/x")' 'f("subject", "input/other")' 'f("subject", "usual_sizes")' 'note("usual-sizes")["text"]'
