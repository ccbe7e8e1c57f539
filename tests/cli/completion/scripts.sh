# The scripts are syntactically right wherever the shell is there to ask.
for shell in bash zsh fish; do
	deepclock completion $shell > script.$shell || echo "$shell: $?"
	! command -v $shell > /dev/null || $shell -n script.$shell || echo "$shell refuses it"
	grep -q statistic script.$shell && ! grep -q worker-fd script.$shell && echo $shell
done
deepclock completion tcsh
