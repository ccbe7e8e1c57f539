# Escape sequences only on a capable terminal, and on request.
escapes() {
	grep -q "$(printf '\033')" && echo "$1: colours" || echo "$1: none"
}
deepclock help | escapes pipe
deepclock help --colour always | escapes always
NO_COLOR=1 deepclock help --colour always | escapes 'always, NO_COLOR'
on-terminal 80 deepclock help | grep -q '<ESC>' && echo 'terminal: colours'
on-terminal 80 deepclock help --colour never | grep -q '<ESC>' || echo 'never: none'
NO_COLOR=1 on-terminal 80 deepclock help | grep -q '<ESC>' || echo 'NO_COLOR: none'
NO_COLOR= on-terminal 80 deepclock help | grep -q '<ESC>' && echo 'empty NO_COLOR: colours'
on-terminal 80 env TERM=dumb deepclock help | grep -q '<ESC>' || echo 'dumb: none'
