# NaN predictions count as wrong, are reported, and are a failure.
printf '0\n1\n1\n0\n' > y.csv
npy s.npy '<f4' 4x2 .9 .1 nan .8 .2 .8 .1 nan
deepclock accuracy --details --quiet --labels y.csv --predictions s.npy --save run.json > out
echo $?
sed -n '/^  accuracy *[0-9]/p; /^Classification/,/weighted avg/p; /^Confusion/,/^$/p; /^error/,$p' out
record run.json 'm("accuracy/overall")["value"]' 'note("nan-predictions")["severity"]'
printf '0\nnan\nNaN\n0\n' > p.csv
deepclock accuracy --details --quiet --labels y.csv --predictions p.csv > out
echo $?
