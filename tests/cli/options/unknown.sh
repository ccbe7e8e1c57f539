deepclock bench zoo:simplenet --max-tim 1s
echo $?
deepclock bench zoo:simplenet --florp
echo $?
deepclock bench zoo:simplenet -Z 5
echo $?
deepclock zoo --formt=json
echo $?
deepclock --florp
echo $?
