# All output of profile can be printed again from the record.
for format in text json csv; do
	deepclock profile --quiet --engine null --engine-option ns=100000 \
		--engine-option operators=/fc1/Gemm:900,/relu/Relu:400 --runs 10 --warmup 1 --profile-runs 5 \
		--no-roofs --format $format --save run.json zoo:simplenet > printed
	deepclock report run.json --format $format | cmp - printed && echo $format
done
