# Many threads that start at once, with their files on a disk: waiting threads leave the CPUs to it.
count-program || exit
./many 1500 > /dev/null || { echo "this user may not have 1,500 threads"; exit 77; }
timeout 50 deepclock count --no-history --save run.json -- ./many 1500 > /dev/null
record run.json '[row[1] for row in t("functions")["rows"] if row[0] == "leaf"]' 'note("count-lost")'
