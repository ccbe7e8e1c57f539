# Options that configure the report.
report() {
	deepclock accuracy --details --quiet --labels y.csv --predictions p.csv "$@" > out
	code=$?
	sed -n '/^  accuracy *[0-9]/p; /^Classification report/,/weighted avg/p; /^Confusion/,/^$/p; /^warning/,$p; /^note/,$p' out
	echo "exit $code"
}
printf 'ant\nbee\ncow\ncow\nmacro\nant\n' > y.csv
printf 'ant\nant\ncow\nbee\nmacro\nant\n' > p.csv
echo '--- digits'
report --digits 0
report --digits 14
echo '--- a part of the labels'
report --label-list cow,ant
echo '--- more labels than there are, in another order'
printf 'dog\nmacro\ncow\nbee\nant\n' > list
report --label-list @list --target-names 'D,M,C,B,a long name with blanks'
echo '--- numbers'
printf '1\n2\n3\n12\n' > y.csv
printf '1\n2\n12\n12\n' > p.csv
report
report --label-list 1-3
report --label-list 0-3,12 --target-names zero,one,two,three,twelve
echo '--- names of classes, of which some do not occur'
printf '1\n2\n' > y.csv
printf '1\n3\n' > p.csv
report --target-names zero,one,two,three,four
