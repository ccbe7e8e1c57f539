# Files of other formats given as a model, detected by magic bytes or else by extension: the message gives
# the format and how to convert the file.
zip_entry() { # FILE FIRST_NAME
	python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as z: z.writestr(sys.argv[2], b"x" * 100)' "$1" "$2"
}
zip_entry model.pt archive/data.pkl
zip_entry renamed.onnx archive/data.pkl
zip_entry exported.pt2 exported/archive_format
zip_entry model.keras metadata.json
zip_entry arrays.npz a.npy
zip_entry models.zip readme.txt
python3 -c 'import pickle; open("object.pkl", "wb").write(pickle.dumps(list(range(50))))'
printf '\200\002\212\nl\374\234F\371 j\250P\031.and more of it' > old.pth
printf '\034\0\0\0TFL3and more of it, of course' > model.tflite
printf '\211HDF\r\n\032\nand more of it' > model.h5
printf 'GGUF\003\0\0\0and more of it' > model.gguf
printf '\100\0\0\0\0\0\0\0{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   ' > model.safetensors
printf 'ftrt\0\0\0\0and more of it' > model.engine
head -c 100 /dev/zero > model.plan
head -c 100 /dev/zero > model.trt
printf '<?xml version="1.0"?>\n<net name="m" version="11">\n' > model.xml
head -c 400 /dev/zero > model.bin
head -c 400 /dev/zero > model.onnx.data
printf '\n\005hello' > model.pb
printf '\010\004\022\002\n\0\302\037\001\001' > model.mlmodel
printf '\n\003abc' > model.pdmodel
printf '7767517\n3 3\nInput data 0 1 data\n' > model.param
printf 'import torch\n' > model.py
printf '{"schema": 1}' > run.json
printf '\223NUMPY\001\0v\0{...}' > input.npy
printf '\037\213\010\0and more' > model.onnx.gz
printf 'x' > f && tar -cf model.tar f
printf '<!DOCTYPE html>\n<title>404' > page.onnx
printf 'version https://git-lfs.github.com/spec/v1\noid' > pointer.onnx
printf 'this is not a model' > text.onnx
for f in model.* renamed.onnx exported.pt2 arrays.npz models.zip object.pkl old.pth run.json input.npy \
	page.onnx pointer.onnx text.onnx; do
	deepclock bench -q -r 3 $f 2> err
	echo "$? $(wc -l < err | tr -d ' ') $(sed 's/^deepclock: //' err)"
done
# Every command that takes a model prints this message.
for command in cost profile throughput load pitfalls 'compare zoo:simplenet' 'accuracy zoo:simplenet'; do
	deepclock $command -q model.pt 2>&1 | sed 's/.* is a file of PyTorch.*/said/'
done
