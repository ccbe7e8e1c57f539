# A file-size limit (RLIMIT_FSIZE): the error is printed, and no partial file remains.
deepclock bench --quiet --runs 200 --warmup 0 --engine null --save r.json --no-history zoo:simplenet > text
sh -c 'ulimit -f 1; deepclock report r.json --format html -o page.html; echo $?'
sh -c 'ulimit -f 1; deepclock bench --quiet --runs 2000 --warmup 0 --engine null --save big.json --no-history zoo:simplenet > /dev/null; echo $?'
sh -c 'ulimit -f 1; deepclock bench --quiet --runs 2000 --warmup 0 --engine null --save big.json --html big.html --no-history zoo:simplenet | grep -o "^the rest.*--details" | sed s/,.*notes*//'
ls -A
