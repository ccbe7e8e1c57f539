# All output of bench can be printed again from the record.
for format in text csv; do
	deepclock bench --quiet --runs 10 --warmup 1 --format $format --save run.json -- true > printed
	deepclock report run.json --format $format | cmp - printed && echo $format
done
