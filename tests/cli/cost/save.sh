# All output of cost can be printed again from the record.
for format in text json csv; do
	deepclock cost zoo:simplenet --as thop --backward --format $format --save run.json > printed
	deepclock report run.json --format $format | cmp - printed && echo $format
done
deepclock cost zoo:simplenet > /dev/full
echo $?
