# Engines in a file of options: each other option is varied for the engines that have it, and a value that is there twice once.
need-ort || exit 77
printf 'spin=0\nsleep_ns=1000000,1000000\nengine=ort,null\n' > space.txt
deepclock tune --quiet --engine null --engine-option null:sleep_ns=2000000 --space space.txt --trial 5ms --max-time 4s --save run.json \
	zoo:simplenet > text
echo $?
record run.json 'sorted(row[0] for row in t("tune/configurations")["rows"])' 'f("space", "engine")'
