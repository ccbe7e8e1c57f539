# In listings, text that a spreadsheet would read as a formula has an apostrophe before it, and no control character of
# one byte or two reaches a terminal.
harmless() {
	python3 -c 'import sys; t = sys.stdin.read(); print(sys.argv[1], [hex(ord(c)) for c in t if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], len(t) > 20)' "$*"
}
history-lines 2 'subject==1+1' | deepclock history import -
history-lines 2 prefix=e "subject=$(printf 'a\302\2331mb')" first=5 | deepclock history import -
deepclock history list --limit 0 --format csv | cut -d, -f4
deepclock history trend --subject '=1+1' --format csv | wc -l
deepclock history export --csv --limit 1 --subject '=1+1' | grep -c "'=1+1"
deepclock history list | harmless history list
deepclock history list --format markdown | harmless history list markdown
deepclock history trend | harmless history trend
deepclock history trend --format markdown | harmless history trend markdown
deepclock history show last | harmless history show
deepclock history show last --details | harmless history show details
deepclock history list --subject "$(printf 'x\302\233y')" 2>&1 | harmless history list refused
deepclock history show "$(printf 'x\302\233y')" 2>&1 | harmless history show refused
deepclock engines --engine-lib "$(printf 'a\033[31m\302\233b.so')" | harmless engines
deepclock engines --engine-lib "$(printf 'a\033[31m\302\233b.so')" --format markdown | harmless engines markdown
