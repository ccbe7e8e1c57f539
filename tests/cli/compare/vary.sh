# heavy
# Settings to explore are no gate unless --margin makes them one; the varied option is not in the heading.
need-ort || exit 77
vary() {
	deepclock compare --quiet --rounds 8 "$@"
	echo "exit status $?"
}
vary --trial 1ms --engine null --vary engine-option=ns=100000,ns=300000 zoo:simplenet | grep -e '^zoo' -e 'subject ' -e 'exit' | tr -s ' '
vary --rounds 16 --trial 5ms --engine null --vary engine-option=ns=100000,ns=300000 --margin 10% zoo:simplenet | grep exit
# JUnit has a failure where the exit status is one.
for gate in '' '--margin 10%'; do vary --rounds 16 --trial 5ms --engine null --vary engine-option=ns=100000,ns=300000 $gate zoo:simplenet --format junit | grep -e '^<testsuite ' -e exit; done
# Runs of different numbers of items: items per second decide, also in fresh processes, which report items at the end.
# Times are within a factor of 8 beside any other program, of half of the trials; items per second differ by 64.
vary --trial 1ms --engine null --engine-option ns=100000 --vary items=1,64 --save items.json zoo:simplenet | grep -e "  items per second" -e "  items/s" | sed 's/[0-9][0-9.,]*/N/g' | tr -s ' '
record items.json 'f("compare", "verdict"), f("compare", "metric"), 8 < 1 / m("compare/ratio")["value"]'
# The latency decides if requested; a metric that only records have is refused.
vary --trial 1ms --metric latency/median --engine null --engine-option ns=100000 --vary items=1,64 --save items.json zoo:simplenet > text
record items.json 'f("compare", "metric")' '1 / 8 < m("compare/ratio")["value"] < 8'
vary --metric latency/p99 --vary threads=1,2 zoo:simplenet 2>&1
vary --trial 1ms --fresh --rounds 6 --engine null --engine-option ns=100000 --vary items=1,64 zoo:simplenet | grep -c "  items per second: items=64 is"
vary --trial 1ms --vary threads=1,2 --save r.json zoo:simplenet | grep -e '^zoo' | sed 's/ort [0-9.]*/ort V/'
record r.json 'f("compare", "varies")' 'f("samples", "others_cpu") is not None'
# A path wider than the page is broken between its components.
mkdir -p a_folder_with_a_long_name/another_folder_with_a_long_name/a_third_folder_with_a_long_name
long=a_folder_with_a_long_name/another_folder_with_a_long_name/a_third_folder_with_a_long_name/model.onnx
deepclock zoo simplenet -o $long >/dev/null 2>&1
vary --trial 1ms --vary threads=1,2 $long | head -2 | sed 's/ort [0-9.]*/ort V/'
# A ranking shows the metric that decides it.
deepclock bench --quiet --runs 20 cmd:true cmd:'sleep 0.02' | grep '^ *subject ' | tr -s ' '
# The verdict fits on the line after long names.
deepclock bench --quiet --runs 10 cmd:'sleep 0.0200' cmd:'sleep 0.02000' cmd:'sleep 0.020000' | grep -c ' verdict$'
