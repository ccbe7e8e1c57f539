deepclock count
deepclock count -- /nothing/of/this/name
deepclock count -e page-fault -- true
deepclock count -e rxyz -- true
deepclock count --evnts x -- true
deepclock count --no-history --save /dev/full -- true >out
echo "$?"
