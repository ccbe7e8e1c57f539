# heavy
# Ctrl-C between items: the report covers the items processed so far.
need-ort || exit 77
{
	printf 'input x Nx2000\nweight w 2000x2000\noutput y\n'
	i=0
	while [ $i -lt 40 ]; do
		printf 'node MatMul x%s,w x%s\n' $i $((i + 1))
		i=$((i + 1))
	done | sed 's/x0,/x,/; s/ x40$/ y/'
} | onnx-model slow.onnx
npy x.npy '<f4' 4000x2000 0
npy y.npy '<i8' 4000 0
interrupt SIGINT --shown 'items +[1-9][0-9,]* of' deepclock accuracy --details --labels y.npy --inputs x.npy --batch 1 --threads 1 \
	--save run.json slow.onnx > out
echo $?
record run.json 'r["incomplete"]' 'note("interrupted")["severity"]' '0 < f("accuracy", "items") < 4000' \
	'm("accuracy/overall")["value"]'
sed -n '/^Classification/p; s/^ *INCOMPLETE:\(.*\)after.*items/INCOMPLETE:\1after N items/p' out
