command -v bash > /dev/null || { echo "no bash here"; exit 77; }
deepclock completion bash > script
cat > ask <<'END'
. ./script
ask() {
	COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1) COMPREPLY=()
	[[ $1 == *' ' ]] && COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_deepclock
	echo "$1 -> ${COMPREPLY[*]}"
}
touch run.json
ask 'deepclock be'
ask 'deepclock bench --stat'
ask 'deepclock bench --statistic '
ask 'deepclock bench --statistic p'
ask 'deepclock bench --statistic=p9'
ask 'deepclock bench zoo:resn'
ask 'deepclock bench --save ru'
ask 'deepclock bench --quiet zoo:b'
ask 'deepclock report ru'
ask 'deepclock bench -- ru'
ask 'deepclock bench --worker'
ask 'deepclock history tr'
ask 'deepclock history trend latency/med'
ask 'deepclock history trend --lim'
ask 'deepclock history trend tr'
ask 'deepclock history list tr'
ask 'deepclock history import ru'
END
bash ask
