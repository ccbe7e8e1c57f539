# The lines that apply the answer set the threads that the engine took, also where it divides the cores; an option of one
# engine is that engine's.
need-ort || exit 77
deepclock tune --quiet zoo:simplenet --interop-threads 2 --engine-option ort:spin=0 --only mem_pattern --trial 5ms --max-time 1s \
	--save run.json > text
echo $?
record run.json '[row[4] for row in t("tune/apply")["rows"] if row[3] == "intra_op_num_threads"] == [f("engine", "threads")]' \
	'[row[4] for row in t("tune/apply")["rows"] if row[3] == "inter_op_num_threads"]' \
	'[row[0] for row in t("tune/apply")["rows"] if row[3] == "session.intra_op.allow_spinning"]'
# It is given, so it is not varied.
deepclock tune --quiet zoo:simplenet --engine-option ort:spin=0 --only spin --trial 5ms --max-time 1s
echo $?
# The items of one batch do not hold for another.
deepclock tune --quiet zoo:simplenet --items 10 --goal throughput --only batch --trial 5ms --max-time 1s
echo $?
