# Nothing is wider than the terminal.
COLUMNS=60 deepclock cost zoo:simplenet --as fvcore > narrow
awk 'length > 60 {print "too wide: " $0}' narrow
