# The scripts are syntactically correct; each is checked if its shell is installed.
for shell in bash zsh fish; do
	deepclock completion $shell > script.$shell || echo "$shell: $?"
	! command -v $shell > /dev/null || $shell -n script.$shell || echo "$shell refuses it"
	grep -q statistic script.$shell && ! grep -q worker-fd script.$shell && echo $shell
done
# zsh and fish offer metrics after 'trend', and no more actions.
! command -v fish > /dev/null || fish -c 'source script.fish; complete -C "deepclock history trend latency/med"; complete -C "deepclock history tre"; complete -C "deepclock history list tre"' | cut -f 1 > offered
! command -v fish > /dev/null || [ "$(cat offered)" = "latency/median
trend" ] || cat offered
grep -q 'words\[2\] == trend .*compadd .*latency/median' script.zsh && echo metrics
deepclock completion tcsh
