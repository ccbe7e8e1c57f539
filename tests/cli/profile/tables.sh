# The operators' tables: by time, by type, by module.
profile() {
	deepclock profile --details --quiet --engine null --engine-option ns=1000000 \
		--engine-option operators=/fc1/Gemm:900000,/relu/Relu:400000,/fc2/Gemm:700000 \
		--runs 10 --warmup 1 --profile-runs 5 --no-roofs "$@" zoo:simplenet 2> err
}
profile --by all | sed -n '/^Operators/,/^  moved/p' | sed -E 's/^ *[mnuµ]*s( +KiB)?$/units/' | awk '{print $1, $2}'
for by in node type module; do
	profile --by $by --format csv | cut -d , -f 1-3
done
profile --by node --sort graph --format csv | cut -d , -f 1
profile --by node --top 1 --format csv | cut -d , -f 1
