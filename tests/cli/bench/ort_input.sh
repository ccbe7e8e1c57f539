need-ort || exit 77
python3 - <<'END'
import struct
def npy(name, descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)
npy("good.npy", "<f4", (1, 784), bytes(4 * 784))
npy("shape.npy", "<f4", (1, 785), bytes(4 * 785))
npy("dtype.npy", "<f8", (1, 784), bytes(8 * 784))
npy("short.npy", "<f4", (1, 784), bytes(4 * 700))
npy("huge.npy", "<f4", (1 << 40, 784), bytes(16))
END
echo no array > text.npy
for f in good shape dtype short huge text missing; do
	echo $f
	deepclock bench --quiet --runs 3 --warmup 0 --input input=$f.npy zoo:simplenet > out
	echo $?
done
deepclock bench --quiet --runs 3 --warmup 0 --input inptu=good.npy zoo:simplenet
echo $?
