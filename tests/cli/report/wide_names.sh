# Wide characters take two columns, marks that join take none; a name of hundreds of characters is cut in the middle.
long=$(printf 'a_long_name_%0.s' $(seq 40))
printf 'main;計算する 5\nmain;work 3\nmain;🚀launch 2\nmain;cafe\314\201 1\nmain;%s 1\n' "$long" > run.folded
LC_ALL=C.UTF-8 deepclock report run.folded > wide
LC_ALL=C.UTF-8 deepclock report run.folded --by path > paths
cat wide paths
LC_ALL=C deepclock report run.folded | grep -v a_long
awk '{ if (length > 400) print "long line" }' wide paths
deepclock report run.folded --format csv | grep -c "$long"
