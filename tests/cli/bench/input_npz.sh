# Arrays of an .npz archive, stored and deflated, for one input or for all.
need-ort || exit 77
onnx-model one.onnx <<'END'
input x Nx3
node Identity x y
output y
END
onnx-model two.onnx <<'END'
input x 3
input y 1
node Add x,y z
output z
END
python3 - <<'END'
import struct, zipfile
def array(values, shape):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n" % shape).encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<%df" % len(values), *values)
def save(name, how, **arrays):
    with zipfile.ZipFile(name, "w", how) as z:
        for key, value in arrays.items():
            with z.open(key + ".npy", "w", force_zip64=True) as f:  # as numpy does
                f.write(value)
x, y, m = array([1, 2, 3], "(3,)"), array([4], "(1,)"), array([1, 2, 3], "(1, 3)")
save("stored.npz", 0, x=x, y=y)
save("deflated.npz", 8, y=y, x=x)
save("other.npz", 8, image=m)
save("none.npz", 0, a=x, b=y)
save("x.npz", 0, x=x)
save("big.npz", 8, x=array([0] * 1000000, "(1000000,)"))
good = open("deflated.npz", "rb").read()
for n in range(0, len(good), 7):
    open("cut%d.npz" % n, "wb").write(good[:n])
END
show() {
	deepclock bench "$@" --runs 3 --warmup 1 --no-history --save run.json > text && record run.json \
		'f("subject", "input/x")' 'f("subject", "input/y")'
}
show two.onnx --input stored.npz
show two.onnx --input deflated.npz
show two.onnx --input x=deflated.npz --input y=0.5
show one.onnx --input other.npz
show one.onnx --input x=other.npz
show two.onnx --input x.npz
# An archive for the other inputs, before and after what gives one; twice is refused.
show two.onnx --input y=0.5 --input x.npz
show two.onnx --input x.npz --input y=0.5
show two.onnx --input y=0.5 --input stored.npz
show two.onnx --input stored.npz --input y=0.5
show two.onnx --input none.npz
show two.onnx --input x=none.npz
show two.onnx --input big.npz
for cut in cut*.npz; do
	deepclock bench two.onnx --input x=$cut --input y=1 > text 2>&1
	echo $?
done | sort | uniq -c | tr -s ' '
