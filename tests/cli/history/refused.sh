try() { echo "- $*"; deepclock history "$@"; echo "exit $?"; }
exec 2>&1
try
try lsit
try remove
try list
try list more
try show
try show a b
try import
try check --keep 3
try list --keep 3
try export --format json
try show last --subject x
try list --lmit 3
try list --limit -3
try list --db ''
